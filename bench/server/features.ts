/**
 * `npm run bench -- --only features`: what each part that watches or limits requests costs, in µs of CPU of a get and of a create. A server with all of them off, one with each of them alone, and one with
 * all of them, in turns on one etcd.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEtcd } from '../../test/harness/etcd.ts'
import { startReceiver } from '../../test/observe/receiver.ts'
import type { Figure } from '../figure.ts'
import { type Figures, h2load, type Load } from './h2load.ts'
import { Http2Client } from './http2-client.ts'
import { PackagedKeelson } from './packaged.ts'
import { type Target, targetOf } from './targets.ts'

const SECONDS = 1
/** Before anything counts: code that is compiled late would be taken for a difference. */
const WARM_UP_REQUESTS = 20_000
const ROUNDS_PER_RUN = 5
/** What issue 20 asks for: all on costs less than a fifth of a get. */
const TIMES_MAX = 1.2
/** Of a user who is no administrator: those are asked nothing by roles, and limited by nothing. */
const USER_TOKEN = 'alice-token'

const json = { 'content-type': 'application/json' }
const maps = '/api/v1/namespaces/default/configmaps'
/** The level of a user without a name in any flow schema has 49 seats. */
const withinSeats = { clients: 4, streams: 8 } as const
const loads: Readonly<Record<string, Load>> = {
  get: { uri: `${maps}/bench`, amount: { seconds: SECONDS }, ...withinSeats },
  create: {
    uri: maps,
    amount: { requests: 2000 },
    ...withinSeats,
    headers: json,
    body: JSON.stringify({ metadata: { generateName: 'b-' }, data: { a: '1' } }),
  },
}

const off = {
  roles: '--authorization-mode=AlwaysAllow',
  'flow control': '--enable-priority-and-fairness=false',
} as const

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
  for (const [what, load] of Object.entries(loads)) {
    figures.push(...figuresOf(what, await measure(targets, load, { runs, dir })))
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
    { name: 'roles', flags: [off['flow control']] },
    { name: 'flow control', flags: [off.roles] },
    { name: 'audit', flags: [...Object.values(off), ...audit('audit')] },
    { name: 'traces of 1 %', flags: [...Object.values(off), traces] },
    { name: 'all', flags: [...audit('all'), traces] },
  ]
}

async function prepare(targets: readonly Target[]): Promise<void> {
  // The last has roles, and its administrator may bind them.
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

/** In turns. */
async function measure(
  targets: readonly Target[],
  load: Load,
  { runs, dir }: { readonly runs: number; readonly dir: string },
): Promise<ReadonlyMap<string, readonly Figures[]>> {
  const all = new Map<string, Figures[]>(targets.map(({ name }) => [name, []]))
  const warmUp = 'seconds' in load.amount ? { ...load, amount: { requests: WARM_UP_REQUESTS } } : load
  for (const target of targets) await h2load(target, warmUp, dir)
  for (let round = 0; round < runs * ROUNDS_PER_RUN; round++) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      const figures = await h2load(target, load, dir)
      if (figures.failed > 0) throw new Error(`${figures.failed} requests to "${target.name}" failed`)
      all.get(target.name)?.push(figures)
    }
  }
  return all
}

function figuresOf(what: string, all: ReadonlyMap<string, readonly Figures[]>): Figure[] {
  const cpu = (name: string): number => median((all.get(name) ?? []).map(({ cpuMicros }) => cpuMicros))
  const none = cpu('none')
  return [...all.keys()].map((name): Figure => {
    const micros = cpu(name)
    if (name === 'none') return { name: `${what}: nothing on`, value: none, unit: 'µs' }
    const note = `${(micros - none).toFixed(1)} µs more than ${none.toFixed(1)}`
    const isJudged = what === 'get' && name === 'all'
    return {
      name: `${what}: ${name} on, against nothing`,
      value: micros / none,
      unit: 'times',
      note,
      ...(isJudged ? { target: { below: TIMES_MAX } } : {}),
    }
  })
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN
