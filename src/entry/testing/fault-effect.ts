/** What a fault does to the requests that it concerns. */
import type { Reason } from '../../api/errors.ts'

export type FaultEffect =
  /** The request is refused with this Status, and has no effect. */
  | {
      readonly status: number
      readonly message?: string
      /** Of the Status; by default the usual one of the code. */
      readonly reason?: Reason
      readonly retryAfterSeconds?: number
    }
  /**
   * As if somebody else had changed the object since the client read it: 409 Conflict, for update,
   * patch and delete.
   */
  | { readonly conflict: true }
  /** The request is served, but only after this time. */
  | { readonly delayMs: number }
  /**
   * The connection (of HTTP/2: the stream) breaks. `true` or 'before': the request has no effect;
   * 'after': it has, but its answer is lost.
   */
  | { readonly dropConnection: true | 'before' | 'after' }
  /**
   * Watches end: those that are open and those that come, each after so many more events; `true`:
   * at once.
   */
  | { readonly closeWatch: true | { readonly afterEvents: number } }
  /**
   * Reads are served from the state at the time when the fault was set, as by a server that lags
   * behind.
   */
  | { readonly staleRead: true }
