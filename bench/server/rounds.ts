/**
 * What the rounds of a comparison say: which count, the ratio, how sure it is, and whether it is a
 * regression.
 */
import type { Disturbance } from '../report/host.ts'
import { type Interval, medianInterval } from '../report/interval.ts'

/**
 * One run of a load on one server: CPU time of a request in µs, and how much the machine did
 * besides.
 */
export type Turn = Disturbance & { readonly cpuMicros: number }

/**
 * One turn of each server: CPU time of a request in µs, and how much the machine did besides
 * (shares of its processors).
 */
export type Round = {
  readonly before: number
  readonly after: number
  readonly stolen: number
  readonly others: number
  readonly isDisturbed: boolean
}

/** A load may cost this much more than before. Less than that cannot be told apart from noise. */
const WORSE_MAX = 0.03

/**
 * A quiet machine has less than a percent. Above this its caches serve others, and CPU time becomes
 * noise.
 */
const STOLEN_MAX = 0.02
/** Linux counts ticks of 10 ms: a short turn looks a few percent busier than it is. */
const OTHERS_MAX = 0.1

export function roundOf({ before, after }: Readonly<Record<'before' | 'after', Turn>>): Round {
  const stolen = Math.max(before.stolen, after.stolen)
  const others = Math.max(before.others, after.others)
  const isDisturbed = stolen > STOLEN_MAX || others > OTHERS_MAX
  return { before: before.cpuMicros, after: after.cpuMicros, stolen, others, isDisturbed }
}

/**
 * The given number of rounds: those that nothing disturbed and, if they are too few, the least
 * disturbed of the others.
 */
export function roundsThatCount(rounds: readonly Round[], count: number): readonly Round[] {
  return rounds.toSorted((one, other) => disturbanceOf(one) - disturbanceOf(other)).slice(0, count)
}

const disturbanceOf = ({ stolen, others, isDisturbed }: Round): number =>
  isDisturbed ? stolen + others : 0

export type Judgement = Interval & {
  /**
   * The least ratio that is a regression: more than 3 % worse, and by more than the spread of the
   * rounds.
   */
  readonly below: number
}

/** The median ratio of the rounds, with its confidence interval. */
export function judge(rounds: readonly Round[]): Judgement {
  const interval = medianInterval(rounds.map(({ before, after }) => after / before))
  return { ...interval, below: 1 + Math.max(WORSE_MAX, interval.value - interval.low) }
}

/** One line about the rounds of a load in one run. */
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
