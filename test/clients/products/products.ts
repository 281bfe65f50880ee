/**
 * Runs real products on Keelson and on kube-apiserver, and compares their outcomes, which must be
 * equal.
 *
 *   npm run products -- [--only gatekeeper] [--reference] [--keep-logs FOLDER]
 *
 * The outcome on kube-apiserver is stored in .cache/products, in a file for each pair of versions
 * of the product and of kube-apiserver. --reference creates the file again. Needs
 * `test/support/tools/install etcd kube-apiserver kube-controller-manager gatekeeper cluster-api`.
 * Exits with 1 if anything differs.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { diff } from '../../recorded/compat/diff.ts'
import { toolPath } from '../../support/harness/etcd.ts'
import { clusterApi } from './cluster-api.ts'
import { gatekeeper } from './gatekeeper.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { type Product, type ServerName, type Stage, startStage } from './stage.ts'

const products: readonly Product[] = [gatekeeper, clusterApi]
const kept = join(import.meta.dirname, '..', '..', '..', '.cache', 'products')

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      reference: { type: 'boolean' },
      'keep-logs': { type: 'string' },
    },
  })
  const chosen = products.filter(({ name }) => values.only === undefined || name === values.only)
  if (chosen.length === 0)
    throw new Error(
      `no product is named ${values.only}: ${products.map(({ name }) => name).join(', ')}`,
    )
  await mkdir(kept, { recursive: true })
  for (const product of chosen) {
    // The outcome depends on the versions of the product and of kube-apiserver.
    const pins = await Promise.all(
      [product.name, 'kube-apiserver'].map(async (tool) =>
        basename(await realpath(toolPath(tool))),
      ),
    )
    const recording = join(kept, `${pins.join('-')}.json`)
    if (values.reference === true || !existsSync(recording))
      await writeFile(
        recording,
        JSON.stringify(await playOn('reference', product, values['keep-logs'])),
      )
    const came = await playOn('keelson', product, values['keep-logs'])
    await writeFile(join(kept, `${product.name}-keelson.json`), JSON.stringify(came))
    report(product.name, JSON.parse(await readFile(recording, 'utf8')), came)
  }
}

async function playOn(
  server: ServerName,
  product: Product,
  logs: string | undefined,
): Promise<Outcome> {
  const began = performance.now()
  console.log(`${product.name} on ${server}`)
  await using stage = await startStage(server)
  try {
    await product.play(stage)
    const outcome = await outcomeOf(stage)
    const restarts = stage.components.reduce((sum, component) => sum + component.restarts, 0)
    console.log(
      `${product.name} on ${server}: ${stage.steps.length} steps, ${Object.keys(outcome.objects).length} objects, ` +
        `${restarts} restarts, ${((performance.now() - began) / 1000).toFixed(0)} s`,
    )
    return outcome
  } finally {
    if (logs !== undefined) await keepLogs(join(logs, `${product.name}-${server}`), stage)
  }
}

async function keepLogs(folder: string, { components, server, steps }: Stage): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [index, { name, log }] of components.entries())
    await writeFile(join(folder, `${name}-${index}.log`), log)
  await writeFile(join(folder, 'server.log'), server.log)
  await writeFile(join(folder, 'steps.json'), JSON.stringify(steps, undefined, 1))
}

function report(name: string, wanted: Outcome, came: Outcome): void {
  const differences = [
    ...differ('step', wanted.steps, came.steps),
    ...differ('object', wanted.objects, came.objects),
  ]
  for (const line of differences) console.log(line)
  console.log(
    `${name}: ${Object.keys(wanted.steps).length} steps, ${Object.keys(wanted.objects).length} objects, ${differences.length} differences`,
  )
  if (differences.length > 0) process.exitCode = 1
}

function differ(what: string, wanted: Outcome['steps'], came: Outcome['steps']): readonly string[] {
  const names = new Set([...Object.keys(wanted), ...Object.keys(came)])
  return [...names].flatMap((name) =>
    diff(wanted[name], came[name]).map((line) => `${what} "${name}": ${line}`),
  )
}

await main()
