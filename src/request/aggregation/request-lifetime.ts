/**
 * Limits the duration of a remote request: it ends when its client disconnects or its timeout
 * expires, even if part of the response has arrived.
 */
import { TIMER_MS_MAX } from '../../lib/time/timers.ts'

export class RequestLifetime {
  readonly #controller = new AbortController()
  readonly #client: AbortSignal
  readonly #timer: NodeJS.Timeout | undefined
  readonly #onGone = (): void => this.#controller.abort(this.#client.reason)

  constructor(client: AbortSignal, ms: number) {
    this.#client = client
    if (client.aborted) this.#onGone()
    client.addEventListener('abort', this.#onGone)
    if (ms <= TIMER_MS_MAX) {
      this.#timer = setTimeout(
        () => this.#controller.abort(new DOMException('the time is up', 'TimeoutError')),
        ms,
      )
      this.#timer.unref()
    }
  }

  /** Whether the timeout expired. */
  get isLate(): boolean {
    const { reason } = this.signal
    return reason instanceof DOMException && reason.name === 'TimeoutError'
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /**
   * Removes the timer for the timeout and the listener for the client. Must be called when the
   * response has ended.
   */
  end(): void {
    clearTimeout(this.#timer)
    this.#client.removeEventListener('abort', this.#onGone)
  }
}
