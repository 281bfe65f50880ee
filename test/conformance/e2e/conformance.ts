#!/usr/bin/env node
/** Upstream's e2e tests that need no containers: `npm run conformance -- --help` says what it can do, README.md how. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownControllers } from '../../../src/config/controllers.ts'
import { PlayedNode } from '../../clients/played-node.ts'
import type { ApiServerProcess } from '../../harness/api-server.ts'
import { type Component, startComponent } from '../../harness/component.ts'
import { startEtcd } from '../../harness/etcd.ts'
import { startKeelson } from '../../harness/keelson.ts'
import { kubectlFor } from '../../harness/kubectl.ts'
import { startReference } from '../../harness/reference.ts'
import type { Outcome } from './junit.ts'
import { type Options, parseOptions, UsageError, usage } from './options.ts'
import { runTests } from './run-tests.ts'

const here = import.meta.dirname
const cache = join(here, '..', '..', '..', '.cache', 'conformance')

/** The exit status. */
async function main(options: Options): Promise<number> {
  const names = namesOf(options)
  await using parts = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'keelson-conformance-'))
  parts.defer(() => rm(dir, { recursive: true, force: true }))
  if (options.logs !== undefined) parts.defer(() => cpSync(dir, options.logs ?? dir, { recursive: true }))
  const etcd = parts.use(await startEtcd())
  const server = parts.use(await startServer(options, etcd.clientUrl))
  const kubectl = parts.use(await kubectlFor(server))
  const kubeconfig = join(kubectl.dir, 'config')
  parts.use(await startManager(options, server, kubeconfig))
  parts.use(new PlayedNode(server.url, 'played'))
  const outcomes: Outcome[] = []
  await runTests(names, { kubeconfig, dir }, options.jobs, (outcome) => {
    outcomes.push(outcome)
    const { result, name, seconds, said } = outcome
    console.log(
      `${result}\t${outcomes.length}/${names.length}\t${seconds.toFixed(1)} s\t${name}${said === '' ? '' : `\n\t${said}`}`,
    )
  })
  if (options.logs !== undefined) writeFileSync(join(dir, 'server.log'), server.log)
  return report(options, outcomes)
}

function namesOf({ group, only }: Options): string[] {
  const listed = readFileSync(join(here, `${group}.txt`), 'utf8').split('\n')
  const names = listed.filter((name) => name !== '' && (only.length === 0 || only.some((text) => name.includes(text))))
  if (names.length === 0) throw new UsageError(`no test of ${group} has such a name`)
  return names
}

function startServer({ isReference, manager }: Options, etcdUrl: string): Promise<ApiServerProcess> {
  const controllers = manager === 'inside' ? ['--controllers=*'] : []
  const options = {
    etcdUrl,
    // The Endpoints of default/kubernetes may not have a loopback address.
    args: ['--bind-address=0.0.0.0', `--advertise-address=${ownAddress()}`, ...controllers],
    omit: ['endpoint-reconciler-type', 'disable-admission-plugins'],
  }
  return isReference ? startReference(options) : startKeelson(options)
}

/**
 * Keelson has no controllers for workloads: kube-controller-manager runs these, without a Lease of its own, before which Keelson's would stand
 * back.
 */
function startManager({ manager }: Options, server: ApiServerProcess, kubeconfig: string): Promise<Component> {
  const others = ['*', ...ownControllers.map((name) => `-${name}`)]
  return startComponent('kube-controller-manager', kubeconfig, [
    `--service-account-private-key-file=${join(server.dir, 'sa.key')}`,
    '--use-service-account-credentials',
    `--root-ca-file=${join(server.dir, 'apiserver.crt')}`,
    ...(manager === 'inside' ? ['--leader-elect=false', `--controllers=${others.join(',')}`] : []),
  ])
}

function ownAddress(): string {
  for (const addresses of Object.values(networkInterfaces()))
    for (const { address, family, internal } of addresses ?? []) if (family === 'IPv4' && !internal) return address
  throw new Error('This machine has no IPv4 address beside the loopback; give it one, since Endpoints need it')
}

/** Prints the table; the times of the reference are kept for the next run on Keelson. */
function report({ group, isReference, junit }: Options, outcomes: readonly Outcome[]): number {
  const file = join(cache, `${group}-reference.json`)
  const before: Record<string, Outcome> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  if (isReference) {
    mkdirSync(cache, { recursive: true })
    const kept = { ...before, ...Object.fromEntries(outcomes.map((outcome) => [outcome.name, outcome])) }
    writeFileSync(file, JSON.stringify(kept, undefined, 1))
  }
  if (junit !== undefined) writeFileSync(junit, junitOf(group, outcomes))
  console.log('\nresult\tseconds\treference\ttest')
  for (const { name, result, seconds } of outcomes.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const known = before[name]
    console.log(
      [
        result,
        seconds.toFixed(1),
        known === undefined ? '-' : `${known.result} ${known.seconds.toFixed(1)}`,
        name,
      ].join('\t'),
    )
  }
  const count = (result: Outcome['result']): number => outcomes.filter((one) => one.result === result).length
  const took = outcomes.reduce((sum, { seconds }) => sum + seconds, 0)
  console.log(
    `\n${group}: ${outcomes.length} tests, ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped, ${took.toFixed(0)} s`,
  )
  return count('failed') > 0 ? 1 : 0
}

function junitOf(group: string, outcomes: readonly Outcome[]): string {
  const cases = outcomes.map(({ name, result, seconds, said }) => {
    const inner = result === 'passed' ? '' : `<${result === 'failed' ? 'failure' : 'skipped'} message="${xml(said)}"/>`
    return `  <testcase name="${xml(name)}" time="${seconds}">${inner}</testcase>`
  })
  return `<testsuite name="${group}" tests="${outcomes.length}">\n${cases.join('\n')}\n</testsuite>\n`
}

const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const argv = process.argv.slice(2)
try {
  if (argv.includes('--help')) console.log(usage)
  else process.exitCode = await main(parseOptions(argv))
} catch (error) {
  const isUsage = error instanceof UsageError
  console.error(isUsage ? `conformance: ${error.message}\n\n${usage}` : error)
  process.exitCode = isUsage ? 2 : 1
}
