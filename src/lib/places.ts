/** A limited number of places: who finds none waits until one is free, in the order of coming. */
export class Places {
  #free: number
  /** In the order of coming; any of them may leave. */
  readonly #waiting = new Set<() => void>()

  constructor(count: number) {
    this.#free = count
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Runs the work when there is a place for it. Fails with the reason of the signal if that is aborted before. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#wait(signal)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(go)
        reject(signal?.reason)
      }
      const go = (): void => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      this.#waiting.add(go)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** The place is handed on. */
  #leave(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next)
      return next()
    }
    this.#free++
  }
}
