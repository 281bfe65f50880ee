import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { AuditEvent } from './event.ts'

/**
 * When an event should be stored. `soon` means that no request waits for this event itself.
 * Requests that wait do so for a later event, which is stored after it.
 */
export type Urgency = 'now' | 'soon'

/** Maximum time that the server waits for events when it stops. */
export const FLUSH_MS_MAX = 3_000

/** A destination of events. */
export interface AuditBackend extends AsyncDisposable {
  /** Whether a request must fail if one of its events is not stored. */
  readonly isStrict: boolean
  /**
   * Whether an event is stored after all events that came before it. If not, a later event of a
   * request has to wait for the earlier one.
   */
  readonly isOrdered: boolean
  /** Maximum size of an event that is stored as a whole. */
  readonly eventBytesMax: number
  /**
   * Stores an event. Returns false if the event is not stored, which matters only if the backend is
   * strict. Returns a promise if the request has to wait. Never fails.
   */
  readonly process: (event: AuditEvent, urgency: Urgency) => MaybePromise<boolean>
}

/** Stores events one by one, or several at once. */
export interface EventSink {
  /** Whether an event is stored after all events that came before it. */
  readonly isOrdered: boolean
  /**
   * Stores events. Resolves to false if not all of them are stored; the sink has then counted and
   * logged them. Never rejects.
   */
  readonly store: (events: readonly AuditEvent[], urgency: Urgency) => Promise<boolean>
  /**
   * Waits for events that are being stored. Storing on another server may be given up after this
   * time; the events are then lost.
   */
  readonly close: (waitMsMax: number) => Promise<void>
}
