/**
 * Random choices of the generators. The same seed, area and case number always produce the same
 * case.
 */
import { Random } from '../simulation/random.ts'

export class Choices extends Random {
  /** Returns a random integer that is at least 0 and less than `below`. */
  int(below: number): number {
    return Math.floor(this.next() * below)
  }

  /** Returns one of the values. The probability of each is proportional to its weight. */
  weigh<T>(...choices: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0)
    const chosen = choices.find(([weight]) => (left -= weight) < 0) ?? choices.at(-1)
    if (chosen === undefined) throw new Error('nothing to choose from')
    return chosen[1]
  }

  some<T>(list: readonly T[], probability: number): T[] {
    return list.filter(() => this.chance(probability))
  }

  shuffle<T>(list: readonly T[]): T[] {
    return list
      .map((value) => ({ value, rank: this.next() }))
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ value }) => value)
  }
}

export const choicesOf = (seed: number, area: string, number: number): Choices =>
  new Choices(new Random(seed).fork(`${area}/${number}`).next() * 2 ** 32)
