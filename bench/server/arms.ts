/**
 * Compares loads on one server where they differ by little. All go to the same process, in short
 * slices that take turns: whatever else the machine does, how V8 has compiled the server and how
 * large its heap is falls upon all of them alike. What counts is the median of the differences
 * within a round, with its confidence interval. Two processes are not compared: each has compiled
 * itself and grown its heap in its own way, which may be more than what is looked for.
 */
import { type Interval, median, medianInterval } from '../report/interval.ts'
import { cpuSeconds } from './process-usage.ts'
import { h2load } from './h2load.ts'
import { Http2Client, type SentRequest } from './http2-client.ts'
import { inLanes } from './lanes.ts'
import type { Target } from './targets.ts'

export type Arm = { readonly name: string; readonly sent: SentRequest }

export type Rounds = {
  readonly rounds: number
  /** Rounds before them that do not count: V8 compiles what runs often. */
  readonly warmUp: number
}

/**
 * Of each round, for each request in its slice: CPU of the server, and the time that half of the
 * answers took.
 */
export type Slice = {
  readonly cpuMicros: number
  readonly halfMicros: number
  readonly perSecond: number
}

export type RunSlice = (sent: SentRequest) => Promise<Slice>

export async function runArms(
  arms: readonly Arm[],
  { rounds, warmUp }: Rounds,
  runSlice: RunSlice,
): Promise<ReadonlyMap<string, readonly Slice[]>> {
  const measured = new Map<string, Slice[]>(arms.map(({ name }) => [name, []]))
  for (let round = -warmUp; round < rounds; round++) {
    // Each arm comes after each other one equally often.
    const turned = arms.map((_, at) => arms[(at + Math.abs(round)) % arms.length])
    for (const arm of round % 2 === 0 ? turned : turned.toReversed()) {
      if (arm === undefined) continue
      const slice = await runSlice(arm.sent)
      if (round >= 0) measured.get(arm.name)?.push(slice)
    }
  }
  return measured
}

export type KeptConnections = {
  /** Of one slice. Long enough that each has its part of the collections of garbage. */
  readonly requests: number
  readonly connections: number
  /** At once, over all connections. */
  readonly lanes: number
}

/**
 * Slices over connections that are kept, by a client that takes as much CPU as the server: the
 * server waits for it.
 */
export function overKept(
  target: Target,
  { requests, connections, lanes }: KeptConnections,
): Disposable & { run: RunSlice } {
  const parts = new DisposableStack()
  const clients = Array.from({ length: connections }, () => parts.use(new Http2Client(target)))
  return {
    [Symbol.dispose]: () => parts.dispose(),
    run: async (sent) => {
      const times: number[] = []
      const cpuBefore = cpuSeconds(target.pid)
      const beganMs = performance.now()
      await inLanes({ count: requests, lanes }, async (at) => {
        const sentMs = performance.now()
        await clients[at % clients.length]?.ask(sent)
        times.push(performance.now() - sentMs)
      })
      const seconds = (performance.now() - beganMs) / 1000
      const cpuMicros = ((cpuSeconds(target.pid) - cpuBefore) / requests) * 1e6
      return { cpuMicros, halfMicros: median(times) * 1000, perSecond: requests / seconds }
    },
  }
}

export type Full = { readonly requests: number; readonly clients: number; readonly streams: number }

/**
 * Slices by h2load, as fast as the server answers. Each begins with connections of its own, the
 * same in all arms.
 */
export function atFullLoad(
  target: Target,
  { requests, clients, streams }: Full,
  directory: string,
): RunSlice {
  return async ({ path, body, ...sent }) => {
    const load = {
      ...sent,
      uri: path,
      ...(body === undefined ? {} : { body }),
      amount: { requests },
      clients,
      streams,
    }
    const { failed, cpuMicros, p50 = Number.NaN, perSecond } = await h2load(target, load, directory)
    if (failed > 0) throw new Error(`${path}: ${failed} of ${requests} requests failed`)
    return { cpuMicros, halfMicros: p50 * 1000, perSecond }
  }
}

export type Difference = Interval & {
  /** Medians of the two. */
  readonly heavier: number
  readonly lighter: number
}

/** What one takes more than the other, in the same round. */
export function difference(heavier: readonly number[], lighter: readonly number[]): Difference {
  const differences = heavier.map((one, round) => one - (lighter[round] ?? Number.NaN))
  return { ...medianInterval(differences), heavier: median(heavier), lighter: median(lighter) }
}
