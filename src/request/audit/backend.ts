import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { AuditEvent } from './event.ts'

/**
 * `soon`: nobody waits for the event itself, since a later one of its request follows, which
 * somebody does wait for.
 */
export type Urgency = 'now' | 'soon'

/** How long the server waits for events when it stops. */
export const FLUSH_MS_MAX = 3_000

/** Where events go. */
export interface AuditBackend extends AsyncDisposable {
  /** Whether a request must fail if an event of it is not stored. */
  readonly isStrict: boolean
  /**
   * Whether an event is stored after all that came before it. If not, a later event of a request
   * has to wait for the earlier one.
   */
  readonly isOrdered: boolean
  /** The size of the largest event that it takes whole. */
  readonly eventBytesMax: number
  /**
   * False if the event is not stored, which matters only if the backend is strict; a promise if the
   * request has to wait. Never fails.
   */
  readonly process: (event: AuditEvent, urgency: Urgency) => MaybePromise<boolean>
}

/** Stores events one after the other, or many at once. */
export interface EventSink {
  /** As of a backend. */
  readonly isOrdered: boolean
  /**
   * Resolves to false if they are not all stored; the sink has then counted and logged them. Never
   * rejects.
   */
  readonly store: (events: readonly AuditEvent[], urgency: Urgency) => Promise<boolean>
  /**
   * Waits for what is being stored; what depends on another server may be given up after this time,
   * and is then lost.
   */
  readonly close: (waitMsMax: number) => Promise<void>
}
