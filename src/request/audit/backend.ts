import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { AuditEvent } from './event.ts'

/**
 * When an event should be stored. `soon` means that no request waits for this event, so it can be
 * delayed. A request might still wait for a later event, which is stored after this one.
 */
export type Urgency = 'now' | 'soon'

/** Maximum time that the server waits for pending events during shutdown. */
export const FLUSH_MS_MAX = 3_000

/** A destination of audit events. */
export interface AuditBackend extends AsyncDisposable {
  /** Whether a request must fail if one of its events is not stored. */
  readonly isStrict: boolean
  /**
   * Whether events are stored in order. If not, a later event of a request has to wait until the
   * earlier one is stored.
   */
  readonly isOrdered: boolean
  /** Maximum size of an event that is stored without truncation. */
  readonly eventBytesMax: number
  /**
   * Stores an event. Returns false if the event is not stored, which matters only if the backend is
   * strict. Returns a promise if the request has to wait. Never rejects.
   */
  readonly process: (event: AuditEvent, urgency: Urgency) => MaybePromise<boolean>
}

/** A sink, which stores one or several events at a time. */
export interface EventSink {
  /** Whether events are stored in order. */
  readonly isOrdered: boolean
  /**
   * Stores events. Resolves to false if some of the events are not stored; the sink has then
   * counted and logged the lost events. Never rejects.
   */
  readonly store: (events: readonly AuditEvent[], urgency: Urgency) => Promise<boolean>
  /**
   * Waits for events that are being stored. A sink that sends events to another server stops
   * waiting after `waitMsMax` milliseconds, and the remaining events are lost.
   */
  readonly close: (waitMsMax: number) => Promise<void>
}
