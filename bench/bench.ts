/**
 * `npm run bench`: measures the cost of single components on a real etcd on this machine.
 *
 *   --check         fails if a figure misses its target.
 *   --only a,b      runs only the named benchmarks:
 *                   - These also run by default: client, feed, latest, serve, memory, registry,
 *                     chain (admission with nothing configured), cel, rbac, flow, nodes.
 *                   - These run only if they are named, because they take minutes: scale, access,
 *                     admission, bully (needs h2load), start (of the packed package), sizing
 *                     (memory, for docs/operate.md), stores (SQLite and etcd), testing,
 *                     encryption, etcds (Events in a separate etcd), proxied (requests to an
 *                     aggregated server; needs h2load), features (cost of audit, roles, flow
 *                     control and traces; needs h2load).
 *                   - These are loads on a whole server: get, create, list-by-node,
 *                     informer-json-cold, kubelets, rest, watch-by-node, … (most need h2load).
 *                   - cluster runs real controllers and kwok, with --nodes N (500) and --pods M
 *                     (5000). It needs test/support/tools/install kwok kube-controller-manager
 *                     kube-scheduler.
 *   --seconds N     is the duration of each load (default 6).
 *   --reference     compares Keelson with kube-apiserver instead. Accepts --only get,create,… and
 *                   --runs N. Needs test/support/tools/install kube-apiserver, and h2load (Debian:
 *                   nghttp2-client).
 *   --against C     compares this checkout with commit C instead, in alternating turns. The server
 *                   of C gets the load of this checkout. Prints the ratio of the CPU times per
 *                   request. Accepts --only get,create,… and --runs N; each run starts new
 *                   processes. --check fails if a load is more than 3 % worse and the difference
 *                   exceeds the spread. Needs h2load.
 *   --json F        writes the figures to F, with the date, command, commit and machine.
 *   --plot          measures nothing, but draws docs/pictures/bench.svg from the comparison with
 *                   kube-apiserver that is stored in bench/results/reference.json.
 *
 * bench/server/main.ts loads and compares any API servers.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchChain } from './parts/admission/chain.ts'
import { benchAdmission } from './parts/admission/creates.ts'
import { benchRules } from './parts/cel/rules.ts'
import { benchEncryption } from './engine/encryption.ts'
import { benchClient } from './engine/etcd-client.ts'
import { benchFeed } from './engine/feed.ts'
import { benchLatest } from './engine/latest.ts'
import { benchMemory } from './engine/memory.ts'
import { benchScale } from './engine/scale.ts'
import { benchFlow } from './parts/flow/seats.ts'
import { benchServe } from './engine/serve.ts'
import { benchNodes } from './parts/nodes/graph.ts'
import { benchRoles } from './parts/rbac/decisions.ts'
import { benchRegistry } from './parts/registry/validate.ts'
import { benchAccess } from './server/access.ts'
import { benchAgainst } from './server/against.ts'
import { benchBully } from './server/bully.ts'
import { benchCluster } from './server/cluster.ts'
import { benchAgainstReference, benchAlone } from './server/compare.ts'
import { benchEtcds } from './server/etcds.ts'
import { benchFeatures } from './server/features.ts'
import { benchProxied } from './server/proxied.ts'
import { benchSizing } from './server/sizing.ts'
import { benchStartAgainst } from './server/start-against.ts'
import { benchStart } from './server/start.ts'
import { benchStores } from './server/stores.ts'
import { benchTesting } from './parts/testing/clusters.ts'
import { describeFigure, type Figure, isMet } from './report/figure.ts'
import { writeRun } from './report/kept-run.ts'
import { plot } from './report/plot.ts'

type Bench = (options: { readonly seconds: number }) => Promise<readonly Figure[]>

const benches: Readonly<Record<string, Bench>> = {
  client: benchClient,
  feed: benchFeed,
  latest: benchLatest,
  serve: benchServe,
  memory: () => benchMemory({}),
  registry: async () => benchRegistry(),
  chain: benchChain,
  cel: async () => benchRules(),
  rbac: async () => benchRoles(),
  flow: async () => benchFlow(),
  nodes: async () => benchNodes(),
  scale: benchScale,
  bully: () => benchBully({ reference: false }),
  access: () => benchAccess({ runs: Number(values.runs) }),
  admission: () => benchAdmission({ runs: Number(values.runs), reference: false }),
  start: () => benchStart({ runs: Number(values.runs) }),
  sizing: () => benchSizing({ runs: Number(values.runs) }),
  stores: () => benchStores({ runs: Number(values.runs) }),
  testing: async () => benchTesting(),
  encryption: benchEncryption,
  etcds: benchEtcds,
  proxied: () => benchProxied({ runs: Number(values.runs), reference: false }),
  features: () => benchFeatures({ runs: Number(values.runs) }),
}

/** Benchmarks that run only if `--only` names them, because they take minutes. */
const onRequest: ReadonlySet<string> = new Set([
  'scale',
  'bully',
  'access',
  'admission',
  'start',
  'sizing',
  'stores',
  'testing',
  'encryption',
  'etcds',
  'proxied',
  'features',
])

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    only: { type: 'string' },
    seconds: { type: 'string', default: '6' },
    json: { type: 'string' },
    plot: { type: 'boolean', default: false },
    reference: { type: 'boolean', default: false },
    against: { type: 'string' },
    runs: { type: 'string', default: '3' },
    nodes: { type: 'string', default: '500' },
    pods: { type: 'string', default: '5000' },
  },
})
const root = join(import.meta.dirname, '..')
const only = values.only?.split(',')
const size = { nodes: Number(values.nodes), pods: Number(values.pods) }
if (values.plot) draw()
else await measure()

function draw(): void {
  const picture = join(root, 'docs', 'pictures', 'bench.svg')
  writeFileSync(
    picture,
    plot(JSON.parse(readFileSync(join(root, 'bench', 'results', 'reference.json'), 'utf8'))),
  )
  console.log(`drawn: ${picture}`)
}

async function measure(): Promise<void> {
  const figures: Figure[] = []
  for await (const measured of chosen()) {
    figures.push(...measured)
    for (const figure of measured) console.log(describeFigure(figure))
  }
  if (values.json !== undefined) writeRun(values.json, figures, { program: 'npm run bench --' })
  const missed = figures.filter((figure) => !isMet(figure))
  console.log(`${figures.length - missed.length} passed, ${missed.length} failed`)
  if (values.check && missed.length > 0) process.exitCode = 1
}

function chosen(): AsyncGenerator<readonly Figure[]> {
  if (values.against !== undefined) return against(values.against)
  return values.reference ? reference() : parts()
}

async function* against(commit: string): AsyncGenerator<readonly Figure[]> {
  const runs = Number(values.runs)
  if (only?.includes('start')) yield await benchStartAgainst({ commit, runs })
  const loads = only?.filter((name) => name !== 'start')
  if (loads?.length !== 0) yield await benchAgainst({ commit, only: loads, runs })
}

async function* parts(): AsyncGenerator<readonly Figure[]> {
  const names = only ?? Object.keys(benches).filter((name) => !onRequest.has(name))
  const loads = names.filter((name) => benches[name] === undefined && name !== 'cluster')
  if (names.includes('cluster')) yield await benchCluster({ ...size, reference: false })
  if (loads.length > 0) yield await benchAlone({ only: loads, runs: Number(values.runs) })
  for (const name of names) {
    const bench = benches[name]
    if (bench === undefined) continue
    if (process.stdout.isTTY) process.stdout.write(`… ${name}\r`)
    yield await bench({ seconds: Number(values.seconds) })
  }
}

async function* reference(): AsyncGenerator<readonly Figure[]> {
  if (only?.includes('cluster')) yield await benchCluster({ ...size, reference: true })
  if (only?.includes('admission'))
    yield await benchAdmission({ runs: Number(values.runs), reference: true })
  if (only?.includes('bully')) yield await benchBully({ reference: true })
  if (only?.includes('proxied'))
    yield await benchProxied({ runs: Number(values.runs), reference: true })
  const loads = only?.filter((name) => !['cluster', 'admission', 'bully', 'proxied'].includes(name))
  if (loads?.length === 0) return
  yield await benchAgainstReference({
    runs: Number(values.runs),
    ...(loads === undefined ? {} : { only: loads }),
  })
}
