/**
 * The open streams of a connection, by ID. A `Map` is not used because of V8's garbage collector:
 * when a Map replaces its table, the old table refers to the new one. Once one table has moved to
 * the old generation, all later ones follow, together with the requests that were in them.
 */
export class StreamTable<Stream extends { readonly id: number }> {
  /** Sorted by ID, which is the order in which streams are opened. */
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

  /** Returns a copy, so that streams may be deleted during iteration. */
  all(): Stream[] {
    return [...this.#streams]
  }

  /** Returns the position of a stream, or -1 if it is not in the table. */
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
