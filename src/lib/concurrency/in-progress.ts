/**
 * Counts the operations in progress for each key, and notifies waiters when the number becomes
 * zero.
 */
export class InProgress {
  readonly #counts = new Map<string, number>()
  readonly #waiting = new Map<string, (() => void)[]>()

  enter(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  /** Marks an operation as finished. Must be called once for each `enter`. */
  leave(key: string): void {
    const left = (this.#counts.get(key) ?? 0) - 1
    if (left > 0) {
      this.#counts.set(key, left)
      return
    }
    this.#counts.delete(key)
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) return
    this.#waiting.delete(key)
    for (const call of waiting) call()
  }

  /**
   * Calls `call` once, as soon as no operation is in progress for the key. If none is in progress
   * now, returns false without calling `call`.
   */
  onIdle(key: string, call: () => void): boolean {
    if (!this.#counts.has(key)) return false
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) this.#waiting.set(key, [call])
    else waiting.push(call)
    return true
  }
}
