/** A FIFO semaphore. */
export class Semaphore {
  #free: number
  /** The waiting callers in the order of arrival. An aborted caller is removed from the queue. */
  readonly #waiting = new Set<() => void>()

  constructor(count: number) {
    this.#free = count
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Runs the work with a permit. If the signal is aborted before there is a permit, fails with the
   * reason of the signal.
   */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#acquire(signal)
    try {
      return await work()
    } finally {
      this.#release()
    }
  }

  #acquire(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(onAcquired)
        reject(signal?.reason)
      }
      const onAcquired = (): void => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      this.#waiting.add(onAcquired)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Passes the permit to the next caller. */
  #release(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next)
      return next()
    }
    this.#free++
  }
}
