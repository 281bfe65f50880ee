/**
 * `npm run bench -- --only features`: measures the cost of each component that observes or limits
 * requests, in µs of CPU time per get and per create. Two servers have everything disabled, which
 * shows how much equal servers differ. The other servers have one component enabled each, except
 * for the last one, which has all of them enabled. All servers alternate in short turns on one
 * etcd.
 *
 * The servers are compared under load, after V8 has compiled their code. This takes many requests:
 * V8 still optimizes the path of a get after 100,000 requests. While a server waits for its turn,
 * V8 collects the hidden classes of finished requests and discards the code that was compiled for
 * them (`--trace-deopt-verbose`: "embedded weak objects cleared" after a "Mark-Compact (reduce)").
 * The first 4,000 gets after a pause therefore take more than twice as long.
 *
 * For this reason each server is warmed up several times with new connections, and again before
 * each of its turns. The number of turns is large enough that no code is compiled in the median
 * turn.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { startReceiver } from '../../test/integration/observe/receiver.ts'
import type { Figure } from '../report/figure.ts'
import { type Figures, h2load, type Load } from './h2load.ts'
import { Http2Client } from './http2-client.ts'
import { PackagedKeelson } from './packaged.ts'
import { type Target, targetOf } from './targets.ts'

/**
 * Number of requests per turn. Turns are short, so that other work on the machine affects all
 * servers equally.
 */
const GETS = 12_000
const CREATES = 500
/**
 * Number of warm-up runs of h2load. There are several, because code for closing connections also
 * has to be compiled.
 */
const WARM_UP_RUNS = 40
const WARM_UP_GETS = 25_000
/**
 * Number of warm-up gets before each turn. They compile the code that V8 has discarded since the
 * last turn, which takes more than a few thousand gets.
 */
const TURN_WARM_UP_GETS = 30_000
const ROUNDS_PER_RUN = 9
/** Target: with everything enabled, a get takes at most 20 % more CPU time. */
const TIMES_MAX = 1.2
/**
 * Token of a user who is not an administrator, because RBAC and flow control exempt administrators.
 */
const USER_TOKEN = 'alice-token'

const json = { 'content-type': 'application/json' }
const maps = '/api/v1/namespaces/default/configmaps'
/**
 * Number of concurrent requests. It is below 49, the number of seats of the priority level for
 * users without a more specific flow schema.
 */
const withinSeats = { clients: 4, streams: 8 } as const
const get: Load = { uri: `${maps}/bench`, amount: { requests: GETS }, ...withinSeats }
const create: Load = {
  uri: maps,
  amount: { requests: CREATES },
  ...withinSeats,
  headers: json,
  body: JSON.stringify({ metadata: { generateName: 'b-' }, data: { a: '1' } }),
}
type Measuring = {
  readonly load: Load
  /** Number of warm-up runs, and the number of requests in each. */
  readonly warmUpRuns: number
  readonly warmUpRequests: number
  /** Number of warm-up requests before each turn. */
  readonly turnWarmUpRequests: number
}
const loads: Readonly<Record<string, Measuring>> = {
  get: {
    load: get,
    warmUpRuns: WARM_UP_RUNS,
    warmUpRequests: WARM_UP_GETS,
    turnWarmUpRequests: TURN_WARM_UP_GETS,
  },
  create: { load: create, warmUpRuns: 2, warmUpRequests: 4 * CREATES, turnWarmUpRequests: CREATES },
}

const off = {
  roles: '--authorization-mode=AlwaysAllow',
  'flow control': '--enable-priority-and-fairness=false',
} as const

/**
 * Name of the second server with everything disabled. Its difference from the first one is noise.
 */
const SAME = 'again nothing'

type Feature = { readonly name: string; readonly flags: readonly string[] }

export async function benchFeatures({ runs }: { readonly runs: number }): Promise<Figure[]> {
  await using parts = new AsyncDisposableStack()
  const dir = mkdtempSync(join(tmpdir(), 'keelson-features-'))
  parts.defer(() => rmSync(dir, { recursive: true, force: true }))
  const { endpoint } = parts.use(await startReceiver())
  const etcd = parts.use(await startEtcd())
  const built = parts.use(new PackagedKeelson())
  const targets: Target[] = []
  for (const { name, flags } of featuresIn(dir, endpoint)) {
    const server = parts.use(await built.start({ etcdUrl: etcd.clientUrl, args: flags }))
    targets.push({ ...targetOf(name, server, etcd.clientUrl), token: USER_TOKEN })
  }
  await prepare(targets)
  const figures: Figure[] = []
  for (const [what, measuring] of Object.entries(loads)) {
    figures.push(...figuresOf(what, await measure(targets, measuring, { runs, dir })))
  }
  return figures
}

function featuresIn(dir: string, endpoint: string): readonly Feature[] {
  const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }
  const tracing = {
    apiVersion: 'apiserver.config.k8s.io/v1beta1',
    kind: 'TracingConfiguration',
    endpoint,
    samplingRatePerMillion: 10_000,
  }
  writeFileSync(join(dir, 'policy.json'), JSON.stringify(policy))
  writeFileSync(join(dir, 'tracing.yaml'), JSON.stringify(tracing))
  const audit = (name: string): string[] => [
    `--audit-policy-file=${join(dir, 'policy.json')}`,
    `--audit-log-path=${join(dir, `${name}.log`)}`,
    '--audit-log-mode=batch',
    '--audit-log-maxbackup=1',
  ]
  const traces = `--tracing-config-file=${join(dir, 'tracing.yaml')}`
  return [
    { name: 'none', flags: Object.values(off) },
    { name: SAME, flags: Object.values(off) },
    { name: 'roles', flags: [off['flow control']] },
    { name: 'flow control', flags: [off.roles] },
    { name: 'audit', flags: [...Object.values(off), ...audit('audit')] },
    { name: 'traces of 1 %', flags: [...Object.values(off), traces] },
    { name: 'all', flags: [...audit('all'), traces] },
  ]
}

async function prepare(targets: readonly Target[]): Promise<void> {
  // All servers share one etcd, so the objects are created through one of them. The last server has
  // RBAC enabled, and the user of `admin-token` may create bindings there.
  const last = targets.at(-1)
  if (last === undefined) return
  using admin = new Http2Client({ ...last, token: 'admin-token' })
  const make = (path: string, object: object): Promise<Buffer> =>
    admin.ask({ method: 'POST', path, headers: json, body: JSON.stringify(object) })
  await make('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'features' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
  })
  await make(maps, { metadata: { name: 'bench' }, data: { a: '1' } })
}

/** Measures all servers in alternating turns. */
async function measure(
  targets: readonly Target[],
  { load, warmUpRuns, warmUpRequests, turnWarmUpRequests }: Measuring,
  { runs, dir }: { readonly runs: number; readonly dir: string },
): Promise<ReadonlyMap<string, readonly Figures[]>> {
  const all = new Map<string, Figures[]>(targets.map(({ name }) => [name, []]))
  const warmUp = (target: Target, requests: number): Promise<Figures> =>
    h2load(target, { ...load, amount: { requests } }, dir)
  for (let run = 0; run < warmUpRuns; run++) {
    for (const target of targets) await warmUp(target, warmUpRequests)
  }
  for (let round = 0; round < runs * ROUNDS_PER_RUN; round++) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      await warmUp(target, turnWarmUpRequests)
      const figures = await h2load(target, load, dir)
      if (figures.failed > 0)
        throw new Error(`${figures.failed} requests to "${target.name}" failed`)
      all.get(target.name)?.push(figures)
    }
  }
  return all
}

function figuresOf(what: string, all: ReadonlyMap<string, readonly Figures[]>): Figure[] {
  const roundsOf = (...names: readonly string[]): number[] =>
    names.flatMap((name) => all.get(name) ?? []).map(({ cpuMicros }) => cpuMicros)
  const cpu = (...names: readonly string[]): number => median(roundsOf(...names))
  const none = cpu('none', SAME)
  return [...all.keys()]
    .filter((name) => name !== SAME)
    .map((name): Figure => {
      const micros = cpu(name)
      if (name === 'none') {
        const note = `${micros.toFixed(1)} and ${cpu(SAME).toFixed(1)} µs: two equal servers`
        return { name: `${what}: everything disabled`, value: none, unit: 'µs', note }
      }
      const note = `${(micros - none).toFixed(1)} µs more than ${none.toFixed(1)}`
      const isJudged = what === 'get' && name === 'all'
      return {
        name: `${what}: ${name} enabled, against everything disabled`,
        value: micros / none,
        unit: 'times',
        note,
        ...(isJudged ? { target: { below: TIMES_MAX } } : {}),
      }
    })
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN
