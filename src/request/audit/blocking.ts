/**
 * The `blocking` and `blocking-strict` modes: each event is stored before its request continues.
 */
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { type AuditBackend, type EventSink, FLUSH_MS_MAX, type Urgency } from './backend.ts'
import type { AuditEvent } from './event.ts'
import type { ReportLost } from './lost.ts'
import { truncated } from './truncate.ts'

export type BlockingOptions = {
  /** Whether a request fails if one of its events is not stored. */
  readonly isStrict: boolean
  /** Maximum size of an event. Infinity if events are not truncated. */
  readonly eventBytesMax: number
  readonly reportLost: ReportLost
}

export class BlockingBackend implements AuditBackend {
  readonly isStrict: boolean
  readonly isOrdered: boolean
  readonly eventBytesMax: number
  readonly #sink: EventSink
  readonly #reportLost: ReportLost

  constructor(sink: EventSink, { isStrict, eventBytesMax, reportLost }: BlockingOptions) {
    this.#sink = sink
    this.isOrdered = sink.isOrdered
    this.isStrict = isStrict
    this.eventBytesMax = eventBytesMax
    this.#reportLost = reportLost
  }

  process(event: AuditEvent, urgency: Urgency): MaybePromise<boolean> {
    const fitting = truncated(event, this.eventBytesMax, this.#reportLost)
    // As in kube-apiserver, a request continues even if its event is too large to be stored.
    if (fitting === undefined) return true
    return this.#sink.store([fitting], urgency)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#sink.close(FLUSH_MS_MAX)
  }
}
