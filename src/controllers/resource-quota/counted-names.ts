/**
 * The names of resources that quotas limit. Counts for each name how many quotas limit it, because
 * finding this out by iterating over all quotas would take too long.
 */
export class CountedNames {
  readonly #times = new Map<string, number>()

  all(): Iterable<string> {
    return this.#times.keys()
  }

  /**
   * Replaces the names that a quota limits. Returns whether this adds a name to the set of all
   * names, or removes one.
   */
  change(before: readonly string[], now: readonly string[]): boolean {
    let hasChanged = false
    for (const name of now) {
      const times = this.#times.get(name) ?? 0
      this.#times.set(name, times + 1)
      hasChanged ||= times === 0
    }
    for (const name of before) {
      const times = (this.#times.get(name) ?? 0) - 1
      if (times > 0) this.#times.set(name, times)
      else {
        this.#times.delete(name)
        hasChanged = true
      }
    }
    return hasChanged
  }
}
