/**
 * Where the time of a request went, in milliseconds: for metrics, and for the log line of a slow
 * request.
 */
export class RequestTimings {
  authenticationMs = 0
  auditMs = 0
  impersonationMs = 0
  /** Waiting for a seat. */
  queueMs = 0
  authorizationMs = 0
  /** Waiting for the rest of the body. */
  bodyMs = 0
  /** One after the other: their sum. */
  mutatingWebhooksMs = 0
  /** At the same time: the longest. */
  validatingWebhooksMs = 0
  /** Waiting for etcd. What a request waits for together with others is not in it. */
  storageMs = 0

  /** Of the request that waits with this signal; undefined: none does alone. */
  static of(signal: RequestSignal): RequestTimings | undefined {
    return signal[spentOfSignal]
  }

  waitWith(signal: RequestSignal): void {
    signal[spentOfSignal] = this
  }
}

/**
 * What is asked of etcd has no more of its request than its signal. A property, since an entry of a
 * WeakMap costs a request more than a microsecond, most of it in the garbage collector.
 */
const spentOfSignal = Symbol('spent')
type RequestSignal = AbortSignal & { [spentOfSignal]?: RequestTimings }
