/** The effects that faults have on matching requests. */
import type { Reason } from '../../api/errors.ts'

export type FaultEffect =
  /** Rejects the request with this Status. The request has no effect. */
  | {
      readonly status: number
      readonly message?: string
      /** The reason of the Status. The default is the usual reason for the code. */
      readonly reason?: Reason
      readonly retryAfterSeconds?: number
    }
  /**
   * Rejects updates, patches and deletes with 409 Conflict, as if another client had changed the
   * object since it was read.
   */
  | { readonly conflict: true }
  /** Delays the request by this time. */
  | { readonly delayMs: number }
  /**
   * Closes the connection (for HTTP/2, the stream). With `true` or 'before', the request is not
   * executed. With 'after', the request is executed, but the client does not receive the response.
   */
  | { readonly dropConnection: true | 'before' | 'after' }
  /**
   * Ends existing and new watches, each after this number of further events. With `true`, ends them
   * immediately.
   */
  | { readonly closeWatch: true | { readonly afterEvents: number } }
  /**
   * Serves reads from the state at the time when the fault was set, like a server that lags behind.
   */
  | { readonly staleRead: true }
