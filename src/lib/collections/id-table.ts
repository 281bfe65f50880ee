/**
 * A table of objects with increasing numeric IDs, such as the open streams of a connection.
 *
 * It is not a `Map`, because a Map that grows allocates a new table, to which its old table still
 * refers. Once an old table is in the old generation of V8's heap, it keeps all newer tables in
 * memory, with the requests that were in them.
 */
export class IdTable<Item extends { readonly id: number }> {
  /** The objects of the table, sorted by ID. */
  readonly #items: Item[] = []

  get size(): number {
    return this.#items.length
  }

  /** Adds an item, whose ID must be higher than all others. */
  add(item: Item): void {
    this.#items.push(item)
  }

  get(id: number): Item | undefined {
    return this.#items[this.#indexOf(id)]
  }

  delete(id: number): void {
    const at = this.#indexOf(id)
    if (at !== -1) this.#items.splice(at, 1)
  }

  clear(): void {
    this.#items.length = 0
  }

  /**
   * Returns a copy of the list of items, so that items can be deleted while a caller iterates over
   * it.
   */
  all(): Item[] {
    return [...this.#items]
  }

  /** Returns the position of an item, or -1 if it is not in the table. */
  #indexOf(id: number): number {
    let [low, high] = [0, this.#items.length - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const found = this.#items[middle]?.id ?? id
      if (found === id) return middle
      if (found < id) low = middle + 1
      else high = middle - 1
    }
    return -1
  }
}
