/** The effects of faults on the requests that they match. */
import type { Reason } from '../../api/errors.ts'

export type FaultEffect =
  /** Rejects the request with this Status. The request has no effect. */
  | {
      readonly status: number
      readonly message?: string
      /** The reason of the Status; by default the usual one of the code. */
      readonly reason?: Reason
      readonly retryAfterSeconds?: number
    }
  /**
   * Rejects update, patch and delete with 409 Conflict, as if another client had changed the object
   * since it was read.
   */
  | { readonly conflict: true }
  /** Serves the request only after this time. */
  | { readonly delayMs: number }
  /**
   * Breaks the connection (the stream for HTTP/2). If `true` or 'before', the request has no
   * effect. If 'after', it has an effect, but its response is lost.
   */
  | { readonly dropConnection: true | 'before' | 'after' }
  /** Ends watches, open ones and new ones, each after this many more events; if `true`, at once. */
  | { readonly closeWatch: true | { readonly afterEvents: number } }
  /**
   * Serves reads from the state at the time when the fault was set, like a server that lags behind.
   */
  | { readonly staleRead: true }
