/**
 * Compares loads on one server where they differ by little. All go through the same connections to the same process, in short slices that take
 * turns: whatever else the machine does, how V8 has compiled the server and how large its heap is falls upon all of them alike. What counts is
 * the median of the differences within a round, with its confidence interval. Two processes are not compared: each has compiled itself and
 * grown its heap in its own way, which may be more than what is looked for.
 */
import { cpuSeconds } from './process-usage.ts'
import { Http2Client, type Sent } from './http2-client.ts'
import { inLanes } from './lanes.ts'
import type { Target } from './targets.ts'

export type Arm = { readonly name: string; readonly sent: Sent }

export type Slices = {
  readonly rounds: number
  /** Rounds before them that do not count: V8 compiles what runs often. */
  readonly warmUp: number
  /** Of one arm, in one round. Long enough that each has its part of the collections of garbage. */
  readonly requests: number
  readonly connections: number
  /** At once, over all connections. */
  readonly lanes: number
}

/** Of each round, for each request in its slice: CPU of the server, and the time that half of the answers took. */
export type Slice = { readonly cpuMicros: number; readonly halfMicros: number }

export async function runArms(
  target: Target,
  arms: readonly Arm[],
  { rounds, warmUp, requests, connections, lanes }: Slices,
): Promise<ReadonlyMap<string, readonly Slice[]>> {
  using parts = new DisposableStack()
  const clients = Array.from({ length: connections }, () => parts.use(new Http2Client(target)))
  const measured = new Map<string, Slice[]>(arms.map(({ name }) => [name, []]))
  for (let round = -warmUp; round < rounds; round++) {
    // Each arm comes after each other one equally often.
    const turned = arms.map((_, at) => arms[(at + Math.abs(round)) % arms.length])
    for (const arm of round % 2 === 0 ? turned : turned.toReversed()) {
      if (arm === undefined) continue
      const slice = await runSlice(target, clients, arm.sent, { count: requests, lanes })
      if (round >= 0) measured.get(arm.name)?.push(slice)
    }
  }
  return measured
}

async function runSlice(
  { pid }: Target,
  clients: readonly Http2Client[],
  sent: Sent,
  { count, lanes }: { readonly count: number; readonly lanes: number },
): Promise<Slice> {
  const times: number[] = []
  const cpuBefore = cpuSeconds(pid)
  await inLanes({ count, lanes }, async (at) => {
    const beganMs = performance.now()
    await clients[at % clients.length]?.ask(sent)
    times.push(performance.now() - beganMs)
  })
  const cpuMicros = ((cpuSeconds(pid) - cpuBefore) / count) * 1e6
  return { cpuMicros, halfMicros: median(times) * 1000 }
}

export type Difference = {
  readonly value: number
  /** 95 % confidence, by the ranks of the differences: whatever their distribution is. */
  readonly low: number
  readonly high: number
  /** Medians of the two. */
  readonly heavier: number
  readonly lighter: number
}

/** Two-sided 95 % of the normal distribution, half of which is the standard deviation of a fair coin. */
const HALF_NORMAL = 1.96 / 2

/** What one takes more than the other, in the same round. */
export function difference(heavier: readonly number[], lighter: readonly number[]): Difference {
  const sorted = heavier.map((one, round) => one - (lighter[round] ?? Number.NaN)).toSorted((a, b) => a - b)
  const count = sorted.length
  const rank = Math.max(0, Math.floor(count / 2 - HALF_NORMAL * Math.sqrt(count)))
  return {
    value: median(sorted),
    low: sorted[rank] ?? Number.NaN,
    high: sorted[count - 1 - rank] ?? Number.NaN,
    heavier: median(heavier),
    lighter: median(lighter),
  }
}

export const median = (all: readonly number[]): number => {
  const sorted = all.toSorted((a, b) => a - b)
  const [low = Number.NaN, high = low] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return (low + high) / 2
}
