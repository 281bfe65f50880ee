/**
 * Caches the result of a plugin's health check for a while, because health endpoints are polled
 * more often than plugins should be.
 */
import { messageOf } from '../../../lib/errors.ts'
import type { Time } from '../../../lib/time/timers.ts'

/** Time for which results are cached, as in kube-apiserver. */
const HEALTHY_MS = 20_000
const UNHEALTHY_MS = 3_000

/**
 * Error in one step of a health check. As in kube-apiserver, only the caller that starts the check
 * gets a message that names the step. Later callers get only the cause.
 */
export class FailedStep extends Error {
  readonly why: string

  constructor(step: 'encrypt' | 'decrypt' | 'status', provider: string, why: string) {
    super(
      `failed to perform ${step} section of the healthz check for KMS Provider ${provider}, error: ${why}`,
    )
    this.name = 'FailedStep'
    this.why = why
  }
}

export class KeptCheck {
  readonly #run: () => Promise<void>
  readonly #time: Pick<Time, 'monotonicMs'>
  #last: { readonly fault: string | undefined; readonly untilMs: number } | undefined
  #running: Promise<string | undefined> | undefined

  constructor(run: () => Promise<void>, time: Pick<Time, 'monotonicMs'>) {
    this.#run = run
    this.#time = time
  }

  /**
   * Returns an error message, or undefined if the plugin is healthy. Never rejects. Concurrent
   * callers share one check.
   */
  async fault(): Promise<string | undefined> {
    if (this.#last !== undefined && this.#time.monotonicMs() < this.#last.untilMs)
      return this.#last.fault
    this.#running ??= this.#check()
    return this.#running
  }

  async #check(): Promise<string | undefined> {
    let fault: string | undefined
    let kept: string | undefined
    try {
      await this.#run()
    } catch (error) {
      fault = messageOf(error)
      kept = error instanceof FailedStep ? error.why : fault
    }
    const keptMs = fault === undefined ? HEALTHY_MS : UNHEALTHY_MS
    this.#last = { fault: kept, untilMs: this.#time.monotonicMs() + keptMs }
    this.#running = undefined
    return fault
  }
}
