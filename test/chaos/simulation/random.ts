/**
 * A seeded generator (mulberry32): the same seed gives the same choices, so that a failure can be
 * run again.
 */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** At least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(choices: readonly T[]): T {
    const index = Math.floor(this.next() * choices.length)
    const choice = choices[index]
    if (choice === undefined) throw new Error('nothing to pick from')
    return choice
  }

  /**
   * A generator of its own for a part, so that parts that run side by side do not take each other's
   * numbers.
   */
  fork(part: string): Random {
    let hash = this.#state
    for (const letter of part) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193)
    return new Random(hash)
  }
}
