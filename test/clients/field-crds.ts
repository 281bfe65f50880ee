/**
 * Tests the CustomResourceDefinitions of well-known projects, as they publish them, on Keelson.
 * Every definition must be accepted. A sample object of each served version is created, read,
 * listed, applied twice and explained by the real kubectl. The real Helm installs the charts that
 * contain definitions.
 *
 * With --reference, the same requests are sent to kube-apiserver, and the responses must be equal.
 * With --spoilt, the requests include COUNT invalid objects of each version. Exits with 1 if a
 * check fails.
 *
 *   node test/clients/field-crds.ts [--reference] [--spoilt COUNT] [--no-explain] [--only TEXT]
 */
import { parseArgs } from 'node:util'
import type { ApiServerOptions, ApiServerProcess } from '../support/harness/api-server.ts'
import { startEtcd } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { startReference } from '../support/harness/reference.ts'
import { installCharts } from './field/charts.ts'
import { compareRecords } from './field/compare.ts'
import { type FieldDefinition, readPackage } from './field/fetch.ts'
import { fieldPackages } from './field/packages.ts'
import { runTrial, type Trial } from './field/trial.ts'

const { values: options } = parseArgs({
  options: {
    reference: { type: 'boolean', default: false },
    'no-explain': { type: 'boolean', default: false },
    spoilt: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
  },
})

async function main(): Promise<void> {
  const definitions = (await readAll()).filter(({ name }) => name.includes(options.only))
  const versions = definitions.flatMap((definition) => definition.versions)
  const modules = new Set(definitions.map(({ module }) => module))
  console.log(
    `${definitions.length} definitions of ${modules.size} packages, ${versions.length} served versions`,
  )
  const ours = await tryOn('Keelson', startKeelson, definitions)
  const faults = [...ours.faults]
  if (options.reference) {
    const theirs = await tryOn('the reference', startReference, definitions)
    faults.push(...compareRecords(ours.records, theirs.records))
  }
  if (options.only === '') faults.push(...(await tryCharts()))
  for (const fault of faults) console.log(fault)
  const refused = [...ours.records.values()].filter(({ status }) => status >= 300).length
  console.log(
    `${ours.records.size} responses, ${refused} of which reject the request; ${faults.length} faults`,
  )
  if (faults.length > 0) process.exitCode = 1
}

async function readAll(): Promise<readonly FieldDefinition[]> {
  const all = new Map<string, FieldDefinition>()
  for (const source of fieldPackages) {
    progress(`fetching ${source.module}`)
    for (const definition of await readPackage(source)) all.set(definition.name, definition)
  }
  return [...all.values()]
}

async function tryOn(
  name: string,
  start: (options: ApiServerOptions) => Promise<ApiServerProcess>,
  definitions: readonly FieldDefinition[],
): Promise<Trial> {
  await using etcd = await startEtcd()
  await using server = await start({ etcdUrl: etcd.clientUrl })
  const began = performance.now()
  const explains = !options['no-explain']
  const trial = await runTrial(server, definitions, {
    explains,
    spoilt: Number(options.spoilt),
    progress: (text) => progress(`${name}: ${text}`),
  })
  console.log(`${name}: done in ${((performance.now() - began) / 1000).toFixed(1)} s`)
  return trial
}

async function tryCharts(): Promise<readonly string[]> {
  progress('installing charts')
  await using etcd = await startEtcd()
  await using server = await startKeelson({ etcdUrl: etcd.clientUrl })
  const { installed, faults } = await installCharts(server, fieldPackages)
  for (const chart of installed) console.log(`helm installed and uninstalled ${chart}`)
  return faults
}

/** Shows progress in one line of a terminal, which it overwrites. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

await main()
