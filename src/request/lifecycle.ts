/**
 * State of one request that the stages of the pipeline share. Each stage adds to it for later
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
  /** When the request arrived, on the monotonic clock. */
  readonly startMs: number
  /** User of a request that the server sends to itself. Such a request has no credentials. */
  readonly ownUser: User | undefined
}

export class RequestLifecycle {
  readonly request: ApiRequest
  readonly auditId: string
  readonly startMs: number
  readonly ownUser: User | undefined
  /** When a stage last read the monotonic clock. Stages that do not wait reuse this time. */
  nowMs: number
  /** CORS headers for a browser that sends the request on behalf of a page from another origin. */
  corsHeaders: Headers | undefined
  /** Undefined until the path is parsed, and if it cannot be parsed. */
  info: RequestInfo | undefined
  isLongRunning = false
  /** Warnings of the authenticator about the credentials. */
  warnings: readonly string[] | undefined
  /** Undefined if the request is not traced. */
  span: Span | undefined
  /** Undefined if no audit event has been started. */
  audited: AuditedRequest | undefined
  /** Undefined if the request does not belong to a flow. */
  flow: Flow | undefined
  /** Seats of the request in its priority level, or its slot among the requests in flight. */
  seat: RequestSlot | undefined
  /** Undefined if the request was refused before it was served. */
  measured: MeasuredRequest | undefined
  /** A response that ends the request before it is measured and audited. */
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

  /** Undefined if the request was refused before its context was created. */
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
 * One stage of the pipeline. It refuses a request by throwing an error or rejecting its promise. It
 * returns a promise only if the request has to wait.
 */
export type Stage = (life: RequestLifecycle) => Promise<void> | void
