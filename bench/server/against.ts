/**
 * `npm run bench -- --against COMMIT`: compares the server of this checkout with that of another
 * commit. Both run on one machine and one etcd, each with its own key prefix, and alternate under
 * the same load. The result is the ratio of CPU time per request. The current speed of the machine
 * hardly affects a ratio within one round. Every run starts new processes, because V8 compiles each
 * of them differently.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ApiServerOptions,
  type ApiServerProcess,
  startApiServer,
} from '../../test/support/harness/api-server.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import type { Figure } from '../report/figure.ts'
import { watchOthers } from '../report/host.ts'
import { median } from '../report/interval.ts'
import { buildCommit, commitOf, commitOfCheckout } from './built-commit.ts'
import { chooseLoads } from './main.ts'
import { cpuSeconds, endedChildrenSeconds } from './process-usage.ts'
import { describeRounds, judge, type Round, roundOf, roundsThatCount, type Turn } from './rounds.ts'
import { type Target, targetOf } from './targets.ts'
import { prepare, type Workload } from './workloads.ts'

/**
 * Number of warm-up runs of every load on each process, because V8 compiles code that runs often.
 */
const WARM_UPS = 3
/** Number of rounds of every load per run. Each run starts new processes. */
const ROUNDS_PER_RUN = 6
/**
 * Maximum number of additional rounds per load and run. They replace rounds in which other
 * processes or the host of the virtual machine used too much CPU time.
 */
const REPEATS_PER_RUN = 6
/** Pause between two turns, so that the connections of the first turn can close. */
const PAUSE_MS = 200

export const againstLoads: readonly string[] = [
  'get',
  'get-any',
  'create',
  'patch',
  'apply',
  'page',
  'list',
]

export type AgainstOptions = {
  readonly commit: string
  readonly only?: readonly string[] | undefined
  readonly runs: number
  readonly print?: (line: string) => void
}

export async function benchAgainst({
  commit,
  only = againstLoads,
  runs,
  print = console.log,
}: AgainstOptions): Promise<Figure[]> {
  const commits = { before: commitOf(commit), after: commitOfCheckout() }
  const programs = { before: buildCommit(commits.before), after: buildCommit(commits.after) }
  print(`built ${commits.before.slice(0, 8)} and this checkout, ${commits.after.slice(0, 8)}`)
  const directory = mkdtempSync(join(tmpdir(), 'keelson-against-'))
  try {
    const loads = chooseLoads(only, { scale: 1, directory })
    const rounds = new Map<string, Round[]>(loads.map(({ name }) => [name, []]))
    for (let run = 0; run < runs; run++) {
      for (const [load, measured] of await measureRun(programs, { loads, directory })) {
        rounds.get(load)?.push(...roundsThatCount(measured, ROUNDS_PER_RUN))
        print(`run ${run + 1} of ${runs}, ${load}: ${describeRounds(measured, ROUNDS_PER_RUN)}`)
      }
    }
    return [...rounds].map(([load, all]) => figureOf(load, all, commits.before.slice(0, 8)))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

type Programs = { readonly before: string; readonly after: string }
type RunOptions = { readonly loads: readonly Workload[]; readonly directory: string }
type Pair = { readonly before: Target; readonly after: Target; readonly ourSeconds: () => number }

/** Starts both servers on a new etcd and runs every load on them. */
async function measureRun(
  programs: Programs,
  { loads, directory }: RunOptions,
): Promise<Map<string, Round[]>> {
  await using etcd = await startEtcd()
  const optionsOf = (name: string): ApiServerOptions => ({
    etcdUrl: etcd.clientUrl,
    args: [`--etcd-prefix=/${name}`],
  })
  await using before = await startAnyVersion(programs.before, optionsOf('before'))
  await using after = await startAnyVersion(programs.after, optionsOf('after'))
  const pair: Pair = {
    before: targetOf('before', before, etcd.clientUrl),
    after: targetOf('after', after, etcd.clientUrl),
    ourSeconds: () =>
      [etcd.pid, before.pid, after.pid, process.pid].reduce(
        (sum, pid) => sum + cpuSeconds(pid),
        0,
      ) + endedChildrenSeconds(process.pid),
  }
  for (const target of [pair.before, pair.after]) await prepare(target, { scale: 1, directory })
  const measured = new Map<string, Round[]>()
  for (const load of loads) {
    for (const target of [pair.before, pair.after]) await load.prepare?.(target)
    measured.set(load.name, await measureLoad(load, pair))
  }
  return measured
}

async function measureLoad(load: Workload, pair: Pair): Promise<Round[]> {
  for (let left = WARM_UPS; left > 0; left--) await measureRound(load, pair, false)
  const rounds: Round[] = []
  let [quiet, repeats] = [0, 0]
  while (quiet < ROUNDS_PER_RUN && repeats <= REPEATS_PER_RUN) {
    const round = await measureRound(load, pair, rounds.length % 2 === 1)
    rounds.push(round)
    if (round.isDisturbed) repeats++
    else quiet++
  }
  return rounds
}

/**
 * Runs one turn on each server. The order alternates, so that effects that grow over time apply to
 * both servers.
 */
async function measureRound(load: Workload, pair: Pair, isReversed: boolean): Promise<Round> {
  const turn = async (target: Target): Promise<Turn> => {
    await sleep(PAUSE_MS)
    const others = watchOthers(pair.ourSeconds)
    const { cpuMicros, failed } = await load.run(target)
    if (failed > 0)
      throw new Error(`${load.name}: ${failed} requests to the server "${target.name}" failed`)
    return { cpuMicros, ...others() }
  }
  return roundOf(
    isReversed
      ? { after: await turn(pair.after), before: await turn(pair.before) }
      : { before: await turn(pair.before), after: await turn(pair.after) },
  )
}

/** Starts a server of any commit. Leaves out flags that an older commit does not support. */
async function startAnyVersion(
  program: string,
  options: ApiServerOptions,
): Promise<ApiServerProcess> {
  const command = [program, 'serve'] as const
  return await startApiServer(command, options).catch(async (error: unknown) => {
    const unknown = [
      ...String(error).matchAll(/unknown flag: --([\w-]+)|--([\w-]+) is not a flag/g),
    ]
    const omit = unknown.flatMap(([, name, other]) => name ?? other ?? [])
    if (omit.length === 0) throw error
    return await startApiServer(command, { ...options, omit })
  })
}

function figureOf(load: string, rounds: readonly Round[], commit: string): Figure {
  const { value, low, high, below } = judge(rounds)
  const [before, after] = [
    median(rounds.map((round) => round.before)),
    median(rounds.map((round) => round.after)),
  ]
  return {
    name: `${load}: CPU against ${commit}`,
    value,
    unit: 'times',
    digits: 3,
    target: { below: Number(below.toFixed(3)) },
    note: `${low.toFixed(3)} to ${high.toFixed(3)}; ${after.toFixed(1)} against ${before.toFixed(1)} µs, ${rounds.length} rounds`,
  }
}
