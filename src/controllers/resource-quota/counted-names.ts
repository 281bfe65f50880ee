/**
 * The names of resources that quotas limit, and how many quotas name each: to look through all
 * quotas at each change takes too long.
 */
export class CountedNames {
  readonly #times = new Map<string, number>()

  all(): Iterable<string> {
    return this.#times.keys()
  }

  /** What a quota named before and what it names now. Returns whether a name has come or gone. */
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
