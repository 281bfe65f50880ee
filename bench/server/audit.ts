/**
 * Measures the cost of auditing: gets and creates on servers without auditing, and on servers that
 * record everything at level Metadata. The servers share one etcd and alternate. Run it directly:
 *
 *   node bench/server/audit.ts [--rounds N] [--only LOAD] [--before TREE]
 *
 * TREE is a folder with the sources of another version of Keelson. If it is given, a server of that
 * version, without auditing, is also measured.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type ApiServerProcess, startApiServer } from '../../test/support/harness/api-server.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { type Figures, h2load, type Load } from './h2load.ts'
import { targetOf } from './targets.ts'

const ROUNDS = 5
const SECONDS = 2

const { values } = parseArgs({
  options: { rounds: { type: 'string' }, only: { type: 'string' }, before: { type: 'string' } },
})

const maps = '/api/v1/namespaces/default/configmaps'
const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }
const own = join(import.meta.dirname, '..', '..')

const dir = mkdtempSync(join(tmpdir(), 'keelson-bench-audit-'))
writeFileSync(join(dir, 'policy.json'), JSON.stringify(policy))
const recording = (name: string): string[] => [
  `--audit-policy-file=${join(dir, 'policy.json')}`,
  `--audit-log-path=${join(dir, name, 'audit.log')}`,
  '--audit-log-maxbackup=1',
]

type Contender = { readonly name: string; readonly tree: string; readonly args: readonly string[] }

const contenders: readonly Contender[] = [
  ...(values.before === undefined ? [] : [{ name: 'before', tree: values.before, args: [] }]),
  { name: 'off', tree: own, args: [] },
  { name: 'blocking log', tree: own, args: recording('blocking') },
  { name: 'batched log', tree: own, args: [...recording('batch'), '--audit-log-mode=batch'] },
]

const loads: Readonly<Record<string, Load>> = {
  get: { uri: `${maps}/bench`, amount: { seconds: SECONDS } },
  'get from memory': { uri: `${maps}/bench?resourceVersion=0`, amount: { seconds: SECONDS } },
  create: {
    uri: maps,
    amount: { requests: 2000 },
    method: 'POST',
    body: JSON.stringify({ metadata: { generateName: 'b-' }, data: { a: '1' } }),
    headers: { 'content-type': 'application/json' },
  },
}

const median = (all: readonly number[]): number =>
  all.toSorted((a, b) => a - b)[all.length >> 1] ?? Number.NaN

const medianOf = (of: (figures: Figures) => number, all: readonly Figures[]): number =>
  median(all.map(of))

await using parts = new AsyncDisposableStack()
parts.defer(() => rmSync(dir, { recursive: true, force: true }))
const etcd = parts.use(await startEtcd())
const targets = []
for (const { name, tree, args } of contenders) {
  const program = [join(tree, 'bin', 'keelson'), 'serve'] as const
  const server: ApiServerProcess = parts.use(
    await startApiServer(program, { etcdUrl: etcd.clientUrl, args }),
  )
  targets.push(targetOf(name, server, etcd.clientUrl))
}
const [first] = targets
if (first === undefined) throw new Error('no server to measure')
const created = {
  ...loads['create'],
  uri: maps,
  amount: { requests: 1 },
  body: '{"metadata":{"name":"bench"}}',
}
await h2load(first, { ...created, clients: 1, streams: 1 }, dir)

for (const [what, load] of Object.entries(loads)) {
  if (values.only !== undefined && values.only !== what) continue
  const figures = new Map<string, Figures[]>(targets.map(({ name }) => [name, []]))
  // The first round is warm-up and is not counted.
  for (let round = 0; round <= Number(values.rounds ?? ROUNDS); round++) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      const one = await h2load(target, load, dir)
      if (one.failed > 0) throw new Error(`${one.failed} requests to "${target.name}" failed`)
      if (round > 0) figures.get(target.name)?.push(one)
    }
  }
  const base = figures.get('off') ?? []
  for (const [name, all] of figures) {
    const cpu = medianOf(({ cpuMicros }) => cpuMicros, all)
    const perSecond = medianOf((one) => one.perSecond, all)
    const cpuRatio = median(
      all.map((one, round) => one.cpuMicros / (base[round]?.cpuMicros ?? Number.NaN)),
    )
    const rateRatio = median(
      all.map((one, round) => one.perSecond / (base[round]?.perSecond ?? Number.NaN)),
    )
    const p50 = medianOf((one) => one.p50 ?? Number.NaN, all)
    console.log(
      `${what.padEnd(16)} ${name.padEnd(13)} ${perSecond.toFixed(0).padStart(6)}/s x${rateRatio.toFixed(3)}  ${cpu.toFixed(1).padStart(6)} µs CPU x${cpuRatio.toFixed(3)}  p50 ${p50.toFixed(2)} ms`,
    )
  }
}
