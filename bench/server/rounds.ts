/**
 * Evaluates the rounds of a comparison: selects the rounds that count, and computes the ratio, its
 * confidence interval, and whether it is a regression.
 */
import type { Disturbance } from '../report/host.ts'
import { type Interval, medianInterval } from '../report/interval.ts'

/**
 * A run of a load on one server: CPU time per request in µs, the share of steal time, and the share
 * of CPU time that other processes used.
 */
export type Turn = Disturbance & { readonly cpuMicros: number }

/**
 * One turn of each of the two servers, with their CPU times per request in µs. `stolen` is the
 * larger one of their shares of steal time. `others` is the larger one of their shares of CPU time
 * that other processes used.
 */
export type Round = {
  readonly before: number
  readonly after: number
  readonly stolen: number
  readonly others: number
  readonly isDisturbed: boolean
}

/** Largest increase that does not count as a regression. It cannot be distinguished from noise. */
const WORSE_MAX = 0.03

/**
 * Share of steal time above which a round counts as disturbed. On a quiet machine, steal time is
 * below one percent. Above 2 %, other virtual machines evict data from the CPU caches, so the
 * measured CPU time varies too much.
 */
const STOLEN_MAX = 0.02
/**
 * Share of CPU time of other processes above which a round counts as disturbed. Linux counts ticks
 * of 10 ms, so a short turn appears a few percent busier than it is.
 */
const OTHERS_MAX = 0.1

export function roundOf({ before, after }: Readonly<Record<'before' | 'after', Turn>>): Round {
  const stolen = Math.max(before.stolen, after.stolen)
  const others = Math.max(before.others, after.others)
  const isDisturbed = stolen > STOLEN_MAX || others > OTHERS_MAX
  return { before: before.cpuMicros, after: after.cpuMicros, stolen, others, isDisturbed }
}

/**
 * Returns `count` rounds. Disturbed rounds are included only if there are too few others, beginning
 * with the least disturbed.
 */
export function roundsThatCount(rounds: readonly Round[], count: number): readonly Round[] {
  return rounds.toSorted((one, other) => disturbanceOf(one) - disturbanceOf(other)).slice(0, count)
}

const disturbanceOf = ({ stolen, others, isDisturbed }: Round): number =>
  isDisturbed ? stolen + others : 0

export type Judgement = Interval & {
  /**
   * Ratio above which the result is a regression: 1 plus the larger of 0.03 and the distance from
   * the median to its lower confidence bound.
   */
  readonly below: number
}

/** Returns the median ratio of the rounds, with its confidence interval. */
export function judge(rounds: readonly Round[]): Judgement {
  const interval = medianInterval(rounds.map(({ before, after }) => after / before))
  return { ...interval, below: 1 + Math.max(WORSE_MAX, interval.value - interval.low) }
}

/** Describes the rounds of a load within one run, as one line. */
export function describeRounds(rounds: readonly Round[], count: number): string {
  const counted = roundsThatCount(rounds, count)
  const ratio = medianInterval(counted.map(({ before, after }) => after / before)).value.toFixed(3)
  const disturbed = rounds.filter(({ isDisturbed }) => isDisturbed)
  if (disturbed.length === 0) return `${ratio} times`
  const percent = (of: (round: Round) => number): string =>
    `${(Math.max(...disturbed.map(of)) * 100).toFixed(0)} %`
  const kept = counted.filter(({ isDisturbed }) => isDisturbed).length
  return [
    `${ratio} times; ${disturbed.length} of ${rounds.length} rounds were disturbed`,
    `(other processes up to ${percent(({ others }) => others)}, steal up to ${percent(({ stolen }) => stolen)})`,
    kept === 0
      ? 'and were repeated'
      : `and were repeated: the machine was not quiet, ${kept} of them count`,
  ].join(' ')
}
