/**
 * The reason why a call had no usable response:
 *
 * - `answered`: the server responded with an error status.
 * - `busy`: too many calls are in progress, so the call was not sent or its response was not read.
 * - `too-large`: the response exceeds the size limit.
 *
 * `busy` and `too-large` are limits of this server, so a caller must not fail open because of them.
 */
export type CallFailure =
  | 'answered'
  | 'timeout'
  | 'canceled'
  | 'reset'
  | 'refused'
  | 'busy'
  | 'too-large'
  | 'other'

type Origin = {
  readonly answer?: { readonly status: number; readonly retryAfterSec: number }
  readonly cause?: unknown
}

/**
 * Thrown when a call fails. The message is the same as client-go's, and contains no credentials.
 */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly failure: CallFailure
  /** Status of the response, or 0 if there was none. */
  readonly status: number
  readonly retryAfterSec: number

  constructor(message: string, failure: CallFailure, { answer, cause }: Origin = {}) {
    super(message, { cause })
    this.failure = failure
    this.status = answer?.status ?? 0
    this.retryAfterSec = answer?.retryAfterSec ?? 0
  }
}
