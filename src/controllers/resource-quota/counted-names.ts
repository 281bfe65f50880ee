/**
 * The names of resources that quotas limit, with the number of quotas that limit each name.
 * Iterating over all quotas at each change would take too long.
 */
export class CountedNames {
  readonly #times = new Map<string, number>()

  all(): Iterable<string> {
    return this.#times.keys()
  }

  /** Replaces the names of a quota. Returns whether the set of all names has changed. */
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
