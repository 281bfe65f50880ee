/**
 * The audit log: decides which requests are recorded, and passes their events to the backends. The
 * server has an audit log only if it has an audit policy.
 */
import type { User } from '../../api/user.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { type ReceivedRequest, AuditedRequest } from './audited-request.ts'
import type { AuditBackend, Urgency } from './backend.ts'
import { type AuditEvent, EventPrinterContext } from './event.ts'
import type { AuditMetrics } from './metrics.ts'
import { MicroClock } from './micro-clock.ts'
import type { EvaluatePolicy } from './policy.ts'

export type AuditOptions = {
  readonly evaluate: EvaluatePolicy
  readonly backends: readonly AuditBackend[]
  readonly metrics: AuditMetrics
  readonly clock: Clock
}

export class Audit implements AsyncDisposable {
  readonly printing: EventPrinterContext
  readonly monotonicMs: () => number
  /** Whether a request fails if its first event cannot be stored. */
  readonly isStrict: boolean
  /** Whether all backends store events in the order in which they arrive. */
  readonly isOrdered: boolean
  /** Maximum size of an object. Larger objects are not recorded. */
  readonly objectBytesMax: number
  readonly #options: AuditOptions
  /**
   * The only backend, to which events are passed directly. Undefined if there are several backends.
   */
  readonly #only: AuditBackend | undefined

  constructor(options: AuditOptions) {
    this.#options = options
    this.#only = options.backends.length === 1 ? options.backends[0] : undefined
    this.printing = new EventPrinterContext(new MicroClock(options.clock))
    this.monotonicMs = options.clock.monotonicMs
    this.isStrict = options.backends.some(({ isStrict }) => isStrict)
    this.isOrdered = options.backends.every(({ isOrdered }) => isOrdered)
    // Bounded: there are at most two backends, so their sizes can be passed as arguments.
    this.objectBytesMax = Math.min(
      OBJECT_BYTES_MAX,
      Math.max(...options.backends.map((one) => one.eventBytesMax)),
    )
  }

  /**
   * Starts recording a request. Returns undefined if the request is not recorded. `user` is
   * undefined if authentication failed.
   */
  begin(arrived: ReceivedRequest, user: User | undefined): AuditedRequest | undefined {
    const recording = this.#options.evaluate(user, arrived.info)
    this.#options.metrics.levels[recording.level].value++
    return recording.level === 'None'
      ? undefined
      : new AuditedRequest({ arrived, user, recording }, this)
  }

  /**
   * Stores an event. Returns false if a backend could not store it. Returns a promise if the
   * request must wait for a backend.
   */
  store(event: AuditEvent, urgency: Urgency = 'now'): MaybePromise<boolean> {
    const { backends, metrics } = this.#options
    metrics.events.value++
    return this.#only === undefined
      ? storeAll(backends, event, urgency)
      : this.#only.process(event, urgency)
  }

  countRejected(): void {
    this.#options.metrics.rejected.value++
  }

  /** Stores all buffered events. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#options.backends.map((backend) => backend[Symbol.asyncDispose]()))
  }
}

/**
 * Passes an event to all backends. If a backend that is not strict cannot store the event, the
 * request continues nevertheless.
 */
function storeAll(
  backends: readonly AuditBackend[],
  event: AuditEvent,
  urgency: Urgency,
): MaybePromise<boolean> {
  const results = backends.map((backend) => ({
    isStrict: backend.isStrict,
    stored: backend.process(event, urgency),
  }))
  if (results.every(({ stored }) => typeof stored === 'boolean')) {
    return results.every(({ isStrict, stored }) => stored !== false || !isStrict)
  }
  const storing = results.map(async ({ isStrict, stored }) => (await stored) || !isStrict)
  return Promise.all(storing).then((all) => all.every(Boolean))
}

/**
 * Maximum size of a recorded object. Larger objects would block the event loop and quickly fill a
 * log. kube-apiserver records objects of any size.
 */
const OBJECT_BYTES_MAX = 16 << 20
