/** Calls waiting functions when the next write is committed. */
export class Writes {
  #waiting = new Set<() => void>()

  notify(): void {
    if (this.#waiting.size === 0) return
    const reported = this.#waiting
    this.#waiting = new Set()
    for (const run of reported) run()
  }

  /** Calls `run` once, at the next write. Returns a function that cancels the call. */
  onNext(run: () => void): () => void {
    this.#waiting.add(run)
    return () => void this.#waiting.delete(run)
  }
}
