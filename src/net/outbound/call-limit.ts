/**
 * Limits the number of concurrent calls to one webhook. Further calls wait in a FIFO queue. If a
 * call had to wait and then timed out, it fails with a BusyError. This error means that other calls
 * used up its time. The webhook itself may be fast.
 */
export class BusyError extends Error {
  override readonly name = 'BusyError'

  constructor() {
    super('too many calls are under way')
  }
}

export type CallLimits = {
  readonly callsMax: number
  /** Maximum number of waiting calls. If this many calls wait, further calls fail immediately. */
  readonly waitingMax: number
}

export class CallLimit {
  readonly #limits: CallLimits
  /** Waiting calls, first in, first out. */
  readonly #waiting = new Set<() => void>()
  #calls = 0

  constructor(limits: CallLimits) {
    this.#limits = limits
  }

  /**
   * Waits until fewer than `callsMax` calls run, and then runs this call. If the signal is aborted
   * before or during a call that had to wait, rejects with a BusyError.
   */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const mustWait = this.#calls >= this.#limits.callsMax
    if (mustWait) await this.#turn(signal)
    else this.#calls++
    try {
      return await call()
    } catch (error) {
      throw mustWait && signal.aborted ? new BusyError() : error
    } finally {
      this.#next()
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted || this.#waiting.size >= this.#limits.waitingMax) {
        reject(new BusyError())
        return
      }
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = (): void => {
        this.#waiting.delete(begin)
        reject(new BusyError())
      }
      this.#waiting.add(begin)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Called when a call has ended. Starts the call that has waited longest. */
  #next(): void {
    const [first] = this.#waiting
    if (first === undefined) {
      this.#calls--
      return
    }
    this.#waiting.delete(first)
    first()
  }
}
