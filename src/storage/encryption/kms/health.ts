/**
 * The result of a check of a plugin, kept for a while: health endpoints are asked more often than a
 * plugin should be.
 */
import { messageOf } from '../../../lib/errors.ts'
import type { Time } from '../../../lib/time/timers.ts'

/** As upstream. */
const HEALTHY_MS = 20_000
const UNHEALTHY_MS = 3_000

/** As upstream: who made the check is told which step of it failed, and who asks later only why. */
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
   * What is wrong; undefined: nothing. Never fails. Who asks at the same time gets the same answer.
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
