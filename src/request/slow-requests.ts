/**
 * Logs one line for each slow request, with the time that it spent in each stage. The number of
 * lines per second is limited, so that the log stays readable.
 */
import type { RequestContext } from '../api/context.ts'
import type { ApiRequest } from '../api/request.ts'
import type { Log } from '../lib/telemetry/log.ts'

/**
 * Minimum duration of a slow request. kube-apiserver uses the same threshold for the traces that it
 * logs.
 */
const SLOW_MS = 500
/** Maximum number of lines per second. In an overload, all requests are slow. */
const LINES_PER_SECOND_MAX = 10

export type EndedRequest = {
  readonly request: ApiRequest
  readonly context: RequestContext | undefined
  readonly status: number
  readonly ms: number
}

export class SlowRequests {
  readonly #log: Log
  #second = 0
  #lines = 0
  #left = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** Logs the request if it was slow. `nowMs` is a time on the monotonic clock. */
  record(ended: EndedRequest, nowMs: number): void {
    if (ended.ms < SLOW_MS) return
    const second = Math.floor(nowMs / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#lines = 0
    }
    if (this.#lines++ >= LINES_PER_SECOND_MAX) {
      this.#left++
      return
    }
    this.#report(ended)
  }

  /** Logs the request without its query and headers, because both can contain secrets. */
  #report({ request: { method, path }, context, status, ms }: EndedRequest): void {
    const left = this.#left
    this.#left = 0
    this.#log('info', 'slow request', {
      method,
      path,
      status,
      ms: Math.round(ms),
      ...(context === undefined ? {} : partsOf(context, ms)),
      user: context?.knownUser?.name,
      auditId: context?.auditId,
      ...(left === 0 ? {} : { unreported: left }),
    })
  }
}

/**
 * Returns the stages that took at least a millisecond. The remaining time was spent on the server's
 * own work, and on waits that the request shared with other requests.
 */
function partsOf({ spent }: RequestContext, ms: number): Record<string, number> {
  const named = {
    bodyMs: spent.bodyMs,
    authenticationMs: spent.authenticationMs,
    auditMs: spent.auditMs,
    impersonationMs: spent.impersonationMs,
    queueMs: spent.queueMs,
    authorizationMs: spent.authorizationMs,
    mutatingWebhooksMs: spent.mutatingWebhooksMs,
    validatingWebhooksMs: spent.validatingWebhooksMs,
    etcdMs: spent.storageMs,
  }
  const known = Object.values(named).reduce((sum, one) => sum + one, 0)
  const shown = Object.entries(named).filter(([, one]) => one >= 1)
  const all = [...shown, ['restMs', Math.max(0, ms - known)] as const]
  return Object.fromEntries(all.map(([name, one]) => [name, Math.round(one)]))
}
