/** A limited number of places: who finds none waits until one is free, in the order of coming. */
import { Deque } from './deque.ts'

export class Places {
  #free: number
  readonly #waiting = new Deque<() => void>()

  constructor(count: number) {
    this.#free = count
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Runs the work when there is a place for it. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // The place is handed on.
      if (next === undefined) this.#free++
      else next()
    }
  }
}
