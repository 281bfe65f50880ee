/**
 * Time that a request spent in the parts of the server, in milliseconds, for metrics and for the
 * log line of a slow request.
 */
export class RequestTimings {
  authenticationMs = 0
  auditMs = 0
  impersonationMs = 0
  /** Time that the request waited for a seat. */
  queueMs = 0
  authorizationMs = 0
  /** Time that the request waited for the rest of the body. */
  bodyMs = 0
  /** Sum of the calls of mutating webhooks, which are called one after another. */
  mutatingWebhooksMs = 0
  /** Longest call of a validating webhook, because they are called at the same time. */
  validatingWebhooksMs = 0
  /**
   * Time that the request waited for etcd. Waiting that it shares with other requests is not
   * included.
   */
  storageMs = 0

  /**
   * Returns the timings of the request that waits with this signal. Undefined if no single request
   * does.
   */
  static of(signal: RequestSignal): RequestTimings | undefined {
    return signal[spentOfSignal]
  }

  waitWith(signal: RequestSignal): void {
    signal[spentOfSignal] = this
  }
}

/**
 * Key of the timings on a signal, because storage knows only the signal of a request. The timings
 * are a property, since an entry of a WeakMap costs a request more than a microsecond, most of it
 * in the garbage collector.
 */
const spentOfSignal = Symbol('spent')
type RequestSignal = AbortSignal & { [spentOfSignal]?: RequestTimings }
