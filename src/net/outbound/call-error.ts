/**
 * Why a call had no usable answer. `answered`: the server did, with the status of an error. `busy`:
 * it was not sent, or its answer not read, as too many are under way. `too-large`: an answer of
 * this length is not read. The last two are limits of ours, which must open nothing.
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

/** A call failed; the message is client-go's and has no credentials. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly failure: CallFailure
  /** 0: there was no answer. */
  readonly status: number
  readonly retryAfterSec: number

  constructor(message: string, failure: CallFailure, { answer, cause }: Origin = {}) {
    super(message, { cause })
    this.failure = failure
    this.status = answer?.status ?? 0
    this.retryAfterSec = answer?.retryAfterSec ?? 0
  }
}
