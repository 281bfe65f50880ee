/**
 * Compares loads that differ only a little, on one server. Each of them is called an arm. All run
 * on the same process in short, alternating slices. Other work on the machine, the way V8 compiled
 * the server and the size of its heap therefore affect all of them alike. The result is the median
 * of the differences within a round, with its confidence interval.
 *
 * Two processes are not compared, because each compiles its code and grows its heap differently.
 * This can cause a larger difference than the one that is measured.
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
  /** Number of warm-up rounds, which do not count, because V8 compiles code that runs often. */
  readonly warmUp: number
}

/** Figures of one slice, per request: CPU time of the server, and the median response time. */
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
    // The order rotates, so that each arm runs equally often after each of the others.
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
  /**
   * Number of requests per slice, large enough that each slice includes its share of garbage
   * collections.
   */
  readonly requests: number
  readonly connections: number
  /** Number of concurrent requests over all connections. */
  readonly lanes: number
}

/**
 * Runs slices over persistent connections. The client runs in Node and takes as much CPU time as
 * the server, so the server is often idle.
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
 * Runs slices with h2load, as fast as the server responds. Each slice opens the same number of new
 * connections in all arms.
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
  /**
   * Median of the measured values of the load that was passed first, which should cost more.
   * `lighter` is the median of the second load.
   */
  readonly heavier: number
  readonly lighter: number
}

/**
 * Returns the median of the differences between two loads in each round, with its confidence
 * interval.
 */
export function difference(heavier: readonly number[], lighter: readonly number[]): Difference {
  const differences = heavier.map((one, round) => one - (lighter[round] ?? Number.NaN))
  return { ...medianInterval(differences), heavier: median(heavier), lighter: median(lighter) }
}
