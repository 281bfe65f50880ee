/**
 * Time in milliseconds that a request spent in each stage. It is used for metrics and for the log
 * line of a slow request.
 */
export class RequestTimings {
  authenticationMs = 0
  auditMs = 0
  impersonationMs = 0
  /** Time that the request waited for a seat in API Priority and Fairness. */
  queueMs = 0
  authorizationMs = 0
  /** Time that the request waited for the rest of its body. */
  bodyMs = 0
  /**
   * Total duration of the calls to mutating webhooks. The webhooks are called one after another.
   */
  mutatingWebhooksMs = 0
  /**
   * Duration of the longest call to a validating webhook. The webhooks are called at the same time.
   */
  validatingWebhooksMs = 0
  /** Time that the request waited for etcd. A wait that several requests share is not included. */
  storageMs = 0

  /**
   * Returns the timings of the request that `signal` belongs to. Undefined if the signal does not
   * belong to a single request.
   */
  static of(signal: RequestSignal): RequestTimings | undefined {
    return signal[spentOfSignal]
  }

  waitWith(signal: RequestSignal): void {
    signal[spentOfSignal] = this
  }
}

/**
 * The property of a request's AbortSignal in which its timings are stored. The storage layer gets
 * only the signal. A WeakMap would cost more than a microsecond per request, mostly for garbage
 * collection.
 */
const spentOfSignal = Symbol('spent')
type RequestSignal = AbortSignal & { [spentOfSignal]?: RequestTimings }
