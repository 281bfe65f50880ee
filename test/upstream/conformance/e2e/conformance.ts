#!/usr/bin/env node
/**
 * Runs Kubernetes' e2e tests that need no containers. `npm run conformance -- --help` lists the
 * options, and README.md explains how it works.
 */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownControllers } from '../../../../src/config/controllers.ts'
import { prepareFrontProxy } from '../../../integration/aggregation/front-proxy.ts'
import { PlayedNode } from '../../../clients/played-node.ts'
import type { ApiServerProcess } from '../../../support/harness/api-server.ts'
import { type Component, startComponent } from '../../../support/harness/component.ts'
import { authorityExtensions, CertificateTree } from '../../../support/harness/certificate-tree.ts'
import { startEtcd } from '../../../support/harness/etcd.ts'
import { startKeelson } from '../../../support/harness/keelson.ts'
import { kubectlFor } from '../../../support/harness/kubectl.ts'
import { startReference } from '../../../support/harness/reference.ts'
import type { Outcome } from './junit.ts'
import { startKwokNodes } from './kwok-nodes.ts'
import { type Group, type Options, parseOptions, UsageError, usage } from './options.ts'
import { junitOf, markdownOf, type Row, summaryOf, tableOf } from './report.ts'
import { Results } from './results.ts'
import { runTests } from './run-tests.ts'
import { SampleServerPod } from './sample-server.ts'

const here = import.meta.dirname
/**
 * Number of nodes for the tests in wide.txt. Some of these tests need two nodes in addition to the
 * one that they make unschedulable.
 */
const WIDE_NODES = 3
const cache = join(here, '..', '..', '..', '..', '.cache', 'conformance')

/** Returns the exit code. */
async function main(options: Options): Promise<number> {
  const listed = namesOf(options)
  const results = resultsOf(options)
  const names = listed.filter((name) => isAsked(options, name, results.get(name)))
  if (names.length === 0) throw new UsageError(`these flags select no test of ${options.group}`)
  await using parts = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'keelson-conformance-'))
  parts.defer(() => rm(dir, { recursive: true, force: true }))
  if (options.logs !== undefined)
    parts.defer(() => cpSync(dir, options.logs ?? dir, { recursive: true }))
  const etcd = parts.use(await startEtcd())
  const server = parts.use(await startServer(options, etcd.clientUrl))
  const kubectl = parts.use(await kubectlFor(server))
  const kubeconfig = join(kubectl.dir, 'config')
  if (options.manager !== 'none') parts.use(await startManager(options, server, kubeconfig))
  const nodes = await startNodes(options, server, kubeconfig, parts)
  if (options.group === 'aggregated') parts.use(new SampleServerPod(server))
  const outcomes: Outcome[] = []
  await runTests(names, { kubeconfig, dir, nodes }, options, (outcome) => {
    outcomes.push(outcome)
    results.keep(outcome)
    const { result, name, seconds, said } = outcome
    console.log(
      `${result}\t${outcomes.length}/${names.length}\t${seconds.toFixed(1)} s\t${name}${said === '' ? '' : `\n\t${said}`}`,
    )
  })
  if (options.logs !== undefined) writeFileSync(join(dir, 'server.log'), server.log)
  return report(options, outcomes, listed)
}

function namesOf({ group, names = join(here, `${group}.txt`) }: Options): string[] {
  if (!existsSync(names))
    throw new UsageError(`the list ${names} does not exist; use --names to specify another one`)
  return readFileSync(names, 'utf8')
    .split('\n')
    .filter((name) => name !== '')
}

function isAsked({ only, skip, kept }: Options, name: string, known: Outcome | undefined): boolean {
  if (only.length > 0 && !only.some((text) => name.includes(text))) return false
  if (skip.some((text) => name.includes(text))) return false
  if (kept === 'rest') return known === undefined
  return kept !== 'failed' || known?.result === 'failed'
}

function startServer(
  { group, isReference, manager }: Options,
  etcdUrl: string,
): Promise<ApiServerProcess> {
  const controllers = manager === 'real' ? [] : ['--controllers=*,token-cleaner-controller']
  const options = {
    etcdUrl,
    // Advertise another address than loopback, because the Endpoints of default/kubernetes must not
    // contain a loopback address. The server listens on loopback, and its certificate is valid for
    // both addresses.
    args: [
      `--advertise-address=${ownAddress()}`,
      '--enable-admission-plugins=NodeRestriction',
      ...controllers,
    ],
    omit: ['endpoint-reconciler-type', 'disable-admission-plugins'],
    prepare: async (dir: string) => [
      ...(await writeAuthority(dir, !isReference && manager !== 'real')),
      ...(group === 'aggregated' ? await prepareFrontProxy(dir) : []),
    ],
  }
  return isReference ? startReference(options) : startKeelson(options)
}

/**
 * Creates the CA for client certificates. The program that runs the controllers signs certificates
 * with this CA. This program is either the server or kube-controller-manager.
 */
async function writeAuthority(dir: string, isSigning: boolean): Promise<string[]> {
  using tree = new CertificateTree()
  const { certificatePem, keyPem } = tree.make('authority', { extensions: authorityExtensions })
  await writeFile(join(dir, 'ca.crt'), certificatePem)
  await writeFile(join(dir, 'ca.key'), keyPem, { mode: 0o600 })
  return [`--client-ca-file=${join(dir, 'ca.crt')}`, ...(isSigning ? signingFlags(dir) : [])]
}

const signingFlags = (dir: string): string[] => [
  `--cluster-signing-cert-file=${join(dir, 'ca.crt')}`,
  `--cluster-signing-key-file=${join(dir, 'ca.key')}`,
]

/**
 * Starts kube-controller-manager, which runs the controllers of workloads. Keelson does not have
 * these controllers. The process uses no Lease, because Keelson's own controllers stop while
 * another process holds this Lease.
 */
function startManager(
  { manager }: Options,
  server: ApiServerProcess,
  kubeconfig: string,
): Promise<Component> {
  // Name the controllers for bootstrap tokens, because `*` does not include them.
  const all = ['*', 'bootstrap-signer-controller', 'token-cleaner-controller']
  const others = ['*', 'bootstrap-signer-controller', ...ownControllers.map((name) => `-${name}`)]
  const controllers = manager === 'inside' ? others : all
  return startComponent('kube-controller-manager', kubeconfig, [
    `--service-account-private-key-file=${join(server.dir, 'sa.key')}`,
    '--use-service-account-credentials',
    `--root-ca-file=${join(server.dir, 'apiserver.crt')}`,
    ...signingFlags(server.dir),
    `--controllers=${controllers.join(',')}`,
    ...(manager === 'inside' ? ['--leader-elect=false'] : []),
  ])
}

/**
 * Starts the nodes and returns their number. The tests of the wide list need several nodes for
 * their Pods. The tests of the other lists need at most one node.
 */
async function startNodes(
  { group, nodes, manager }: Options,
  server: ApiServerProcess,
  kubeconfig: string,
  parts: AsyncDisposableStack,
): Promise<number> {
  const isWide = group === 'wide' || group === 'aggregated'
  const count = isWide ? WIDE_NODES : 1
  if (isWide && manager !== 'none') parts.use(await startComponent('kube-scheduler', kubeconfig))
  if (nodes === 'kwok') parts.use(await startKwokNodes(server, kubeconfig, count))
  else
    for (let index = 0; index < count; index++)
      parts.use(new PlayedNode(server.url, `played-${index}`))
  return count
}

function ownAddress(): string {
  for (const addresses of Object.values(networkInterfaces()))
    for (const { address, family, internal } of addresses ?? [])
      if (family === 'IPv4' && !internal) return address
  throw new Error(
    'this machine has no IPv4 address except loopback; add one, because Endpoints need it',
  )
}

/**
 * Prints a table of this run. Also writes the results of the whole group to files, because previous
 * runs may have run other parts of the group.
 */
function report(options: Options, outcomes: readonly Outcome[], names: readonly string[]): number {
  const { group, junit } = options
  const rows = rowsOf(group, outcomes)
  console.log(`\n${tableOf(rows)}\n\n${summaryOf(group, rows)}`)
  const kept = resultsOf(options)
  const all = rowsOf(
    group,
    names.flatMap((name) => kept.get(name) ?? []),
  )
  const file = fileOf(options)
  writeFileSync(`${file}.md`, markdownOf(group, all))
  writeFileSync(`${file}.xml`, junitOf(group, all))
  if (junit !== undefined) writeFileSync(junit, junitOf(group, rows))
  console.log(`all results so far, in ${file}.md and .xml: ${summaryOf(group, all)}`)
  return outcomes.some(({ result }) => result === 'failed') ? 1 : 0
}

function rowsOf(group: Group, outcomes: readonly Outcome[]): Row[] {
  const reference = resultsOf({ group, isReference: true, manager: 'real' })
  return outcomes
    .map((outcome) => ({ outcome, reference: reference.get(outcome.name) }))
    .toSorted((a, b) => (a.outcome.name < b.outcome.name ? -1 : 1))
}

type Server = Pick<Options, 'group' | 'isReference' | 'manager'>

/**
 * Returns the path of the file with a server's results. It depends on where the controllers run,
 * because the results also depend on this.
 */
const fileOf = ({ group, isReference, manager }: Server): string =>
  join(cache, `${group}-${isReference ? 'reference' : `keelson-${manager}`}`)

const resultsOf = (server: Server): Results => new Results(`${fileOf(server)}.json`)

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
