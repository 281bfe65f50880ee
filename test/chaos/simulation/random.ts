/**
 * A seeded random number generator (mulberry32). The same seed produces the same numbers, so that a
 * failure can be reproduced.
 */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Returns a number that is at least 0 and less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  /** Returns an integer from `low` to `high`, both inclusive. */
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
   * Returns a separate generator for one component, so that concurrent components do not affect
   * each other's numbers.
   */
  fork(part: string): Random {
    let hash = this.#state
    for (const letter of part) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193)
    return new Random(hash)
  }
}
