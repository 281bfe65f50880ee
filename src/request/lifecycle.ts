/**
 * State of one request, shared by the stages of the pipeline. Each stage can add data for later
 * stages.
 */
import type { RequestContext, RequestInfo } from '../api/context.ts'
import type { ApiRequest, ApiResponse, Headers } from '../api/request.ts'
import type { Span } from '../api/span.ts'
import type { User } from '../api/user.ts'
import { assert } from '../lib/errors.ts'
import type { AuditedRequest } from './audit/audited-request.ts'
import type { RequestSlot } from './filters/in-flight.ts'
import type { MeasuredRequest } from './filters/request-metrics.ts'
import type { Flow } from './flow/flow-control.ts'
import type { RoutedRequest } from './routed-request.ts'

type LifecycleOptions = {
  readonly request: ApiRequest
  readonly auditId: string
  /** Time on the monotonic clock when the request arrived. */
  readonly startMs: number
  /** User of a request that the server sends to itself. Such a request has no credentials. */
  readonly ownUser: User | undefined
}

export class RequestLifecycle {
  readonly request: ApiRequest
  readonly auditId: string
  readonly startMs: number
  readonly ownUser: User | undefined
  /**
   * Time on the monotonic clock that a stage has read most recently. Stages that do not wait use
   * this time instead of reading the clock.
   */
  nowMs: number
  /** CORS headers for a request that a browser sends for a page from another origin. */
  corsHeaders: Headers | undefined
  /** The parsed path and method. Undefined before the path is parsed, or if it cannot be parsed. */
  info: RequestInfo | undefined
  isLongRunning = false
  /** Warnings of the authenticator about the client's credentials. */
  warnings: readonly string[] | undefined
  /** Span of the request. Undefined if the request is not traced. */
  span: Span | undefined
  /** Records the request for the audit log. Undefined if no audit event has been started. */
  audited: AuditedRequest | undefined
  /** Flow of the request in API Priority and Fairness. Undefined if the request has no flow. */
  flow: Flow | undefined
  /**
   * Seats of the request in its priority level or, without API Priority and Fairness, its slot
   * among the requests in flight.
   */
  seat: RequestSlot | undefined
  /**
   * Measures the request for metrics. Undefined if the request was rejected before it was handled.
   */
  measured: MeasuredRequest | undefined
  /** A response that is sent without measuring and auditing the request. */
  earlyResponse: ApiResponse | undefined
  response: ApiResponse | undefined
  #context: RequestContext | undefined
  #routed: RoutedRequest | undefined

  constructor({ request, auditId, startMs, ownUser }: LifecycleOptions) {
    this.request = request
    this.auditId = auditId
    this.startMs = startMs
    this.nowMs = startMs
    this.ownUser = ownUser
  }

  get isOwn(): boolean {
    return this.ownUser !== undefined
  }

  get context(): RequestContext {
    assert(this.#context !== undefined, 'the request has a context')
    return this.#context
  }

  set context(context: RequestContext) {
    this.#context = context
  }

  /**
   * Context of the request. Undefined if the request was rejected before its context was created.
   */
  get contextIfAny(): RequestContext | undefined {
    return this.#context
  }

  get routed(): RoutedRequest {
    assert(this.#routed !== undefined, 'the request is routed')
    return this.#routed
  }

  set routed(routed: RoutedRequest) {
    this.#routed = routed
  }
}

/**
 * One stage of the pipeline. To reject a request, the stage throws an error or returns a promise
 * that rejects. It returns a promise only if the request has to wait.
 */
export type Stage = (life: RequestLifecycle) => Promise<void> | void
