/** What the stages of the pipeline know about one request. Each stage adds to it for later ones. */
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
  /** When the request came, on the monotonic clock. */
  readonly startMs: number
  /** The user of one of the server's own requests, which have no credentials. */
  readonly ownUser: User | undefined
}

export class RequestLifecycle {
  readonly request: ApiRequest
  readonly auditId: string
  readonly startMs: number
  readonly ownUser: User | undefined
  /** The last time that a stage read from the monotonic clock. Stages that do not wait use it. */
  nowMs: number
  /** Headers for a browser that sends the request for a page of another origin. */
  corsHeaders: Headers | undefined
  /** Undefined: the path is not parsed yet, or cannot be parsed. */
  info: RequestInfo | undefined
  isLongRunning = false
  /** Of the authenticator, about the credentials. */
  warnings: readonly string[] | undefined
  /** Undefined: the request is not traced. */
  span: Span | undefined
  /** Undefined: no audit event has been started. */
  audited: AuditedRequest | undefined
  /** Undefined: the request is in no flow. */
  flow: Flow | undefined
  /** What the request occupies of the limits of its priority level, or of requests in flight. */
  seat: RequestSlot | undefined
  /** Undefined: the request was refused before it was served. */
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

  /** Undefined: the request was refused before it had one. */
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
 * One stage of the pipeline. It throws, or its promise rejects, to refuse the request. It returns a
 * promise only if the request has to wait.
 */
export type Stage = (life: RequestLifecycle) => Promise<void> | void
