/**
 * The open streams of a connection, by ID. A `Map` would do, were it not for V8's garbage
 * collector: whenever the table of a Map is replaced, the old one refers to the new one. Once one
 * of them has become old, all that follow become old as well, together with the requests that were
 * in them.
 */
export class StreamTable<Stream extends { readonly id: number }> {
  /** In the order of their IDs, which is the order in which they are opened. */
  readonly #streams: Stream[] = []

  get size(): number {
    return this.#streams.length
  }

  /** Adds a stream, whose ID must be higher than all others. */
  add(stream: Stream): void {
    this.#streams.push(stream)
  }

  get(id: number): Stream | undefined {
    return this.#streams[this.#indexOf(id)]
  }

  delete(id: number): void {
    const at = this.#indexOf(id)
    if (at !== -1) this.#streams.splice(at, 1)
  }

  clear(): void {
    this.#streams.length = 0
  }

  /** A copy, so that streams may be deleted during iteration. */
  all(): Stream[] {
    return [...this.#streams]
  }

  /** Returns -1 if there is no such stream. */
  #indexOf(id: number): number {
    let [low, high] = [0, this.#streams.length - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const found = this.#streams[middle]?.id ?? id
      if (found === id) return middle
      if (found < id) low = middle + 1
      else high = middle - 1
    }
    return -1
  }
}
