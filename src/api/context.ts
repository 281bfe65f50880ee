/**
 * The context of a request in all layers: its user, its target, its deadline, and the data
 * collected for the response (warnings) and for the audit log (annotations). Most requests use few
 * of these fields, so expensive ones are created on first use.
 */
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'
import { assert } from '../lib/errors.ts'
import { inParts } from '../lib/scheduling/parts.ts'
import { runningWork, type Work } from '../lib/scheduling/running-work.ts'
import { Slices } from '../lib/scheduling/slices.ts'
import { systemTime, TIMER_MS_MAX } from '../lib/time/timers.ts'
import type { AccessDecision, AccessSelectors } from './access.ts'
import type { AuditRecorder } from './audited.ts'
import type { ApiRequest } from './request.ts'
import type { Span } from './span.ts'
import { RequestTimings } from './spent.ts'
import type { User } from './user.ts'

export type RequestInfo = PathInfo | ResourceInfo

/** A path that does not name a resource, such as discovery or health. */
export type PathInfo = { readonly kind: 'path'; readonly verb: string; readonly path: string }

/** Resource in the path. It has not been looked up yet, so it might not exist. */
export type ResourceInfo = {
  readonly kind: 'resource'
  /** Kubernetes verb. Empty if the HTTP method does not correspond to a verb. */
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly subresource: string
  /** Namespace in the path. Empty if the path contains no namespace. */
  readonly namespace: string
  /**
   * Name in the path. For lists and watches, also the name in a field selector that matches only
   * one name.
   */
  readonly name: string
  /** Segments of the path after the version (and `watch`), as the client sent them. */
  readonly segments: readonly string[]
  /** Whether the path is `/watch/…`, the deprecated path of a watch. */
  readonly isWatchPath: boolean
  /**
   * Returns the selectors of a list, a watch or a deletecollection, for authorization. Undefined if
   * the query has none.
   */
  readonly selectors?: (() => AccessSelectors) | undefined
}

/**
 * Objects of more than this size count as large. For an object of this size, each step of a write
 * takes one or two milliseconds.
 */
const LARGE_BYTES = 64 * 1024

export type ContextOptions = {
  readonly auditId: string
  readonly info: RequestInfo
  /** The client's request. Its signal is read only when it is needed. */
  readonly client: Pick<ApiRequest, 'signal' | 'onGone'>
  /**
   * Time in which the request must finish, counted from `startMs`. Infinity for watches, which have
   * a timeout of their own.
   */
  readonly timeoutMs: number
  /** Arrival time of the request on the monotonic clock. Defaults to the current time. */
  readonly startMs?: number
  readonly monotonicMs: () => number
}

export class RequestContext implements Work {
  readonly auditId: string
  readonly info: RequestInfo
  #user: User | undefined
  #caller: User | undefined
  /** Decision of the authorizers. Undefined if the request was rejected before authorization. */
  decision: AccessDecision | undefined
  /** Tracing span of the request. Undefined if the request is not traced. */
  span: Span | undefined
  /** Time that the request spent in each stage, such as queues, webhooks and storage. */
  readonly spent = new RequestTimings()
  /** Length of the request body in bytes. -1 if no body was read. */
  bodyBytes = -1
  /**
   * Length of the longest string from which objects of the request were decoded. Strings in these
   * objects are substrings of it. In V8, a retained substring keeps the whole string in memory.
   */
  textBytes = 0
  /** Length of the stored object that the request reads or changes, if it is known. */
  storedBytes = 0
  /**
   * Number of bytes of memory that are reserved for the response. Set only if the response is
   * longer than the request.
   */
  responseBytes = 0
  /**
   * The current step of the request, such as decode or validate. It is logged if a tick of the
   * event loop takes too long.
   */
  step = ''
  /**
   * First Kubernetes release that no longer serves the API version of the request. Empty if this
   * release is not known, undefined if the version is not deprecated.
   */
  deprecatedUntil: string | undefined
  /** Recorder for the audit log. Undefined if the request is not audited. */
  audited: AuditRecorder | undefined
  /** Deadline on the monotonic clock. */
  readonly deadlineMs: number
  /**
   * Whether the creator of the context calls `timeOut` at the deadline. If so, `signal` needs no
   * timer of its own.
   */
  isTimed = false
  readonly #options: ContextOptions
  #slices: Slices | undefined
  readonly #startMs: number
  #signal: AbortSignal | undefined
  #hasTimedOut = false
  #release: (() => void) | undefined
  #abort: (() => void) | undefined
  #warnings: Set<string> | undefined
  #ownWarnings: Set<string> | undefined
  #annotations: Map<string, string> | undefined
  #onWriteEnd: (() => void)[] | undefined

  constructor(options: ContextOptions) {
    this.auditId = options.auditId
    this.info = options.info
    this.#startMs = options.startMs ?? options.monotonicMs()
    this.deadlineMs = this.#startMs + options.timeoutMs
    this.#options = options
  }

  /** The user on whose behalf the request is executed. Read it only after authentication. */
  get user(): User {
    assert(this.#user !== undefined, 'the user of a request is read only after authentication')
    return this.#user
  }

  /** The user, or undefined if the request was rejected before authentication. */
  get knownUser(): User | undefined {
    return this.#user
  }

  /** The authenticated user, or undefined if the request was rejected before authentication. */
  get caller(): User | undefined {
    return this.#caller
  }

  /** The authenticated user, if the request impersonates another user. */
  get impersonator(): User | undefined {
    return this.#caller === this.#user ? undefined : this.#caller
  }

  /** Sets the authenticated user. The request is executed as this user unless `actAs` is called. */
  identify(caller: User): void {
    this.#caller = caller
    this.#user = caller
  }

  /**
   * Sets the user that the caller impersonates. The caller must be allowed to impersonate that
   * user.
   */
  actAs(user: User): void {
    this.#user = user
  }

  /** Reads the whole body of the request. */
  readBody(request: { readonly body: () => Promise<Buffer> }): Promise<Buffer> {
    const { monotonicMs } = this.#options
    const startMs = monotonicMs()
    return request.body().then((bytes) => {
      this.bodyBytes = bytes.length
      this.recordText(bytes.length)
      this.spent.bodyMs = monotonicMs() - startMs
      return bytes
    })
  }

  /**
   * Records the current step of the request. Called when the step begins, and when it continues
   * after an interruption.
   */
  enter(step: string): void {
    this.step = step
    runningWork.note(this)
  }

  /** Number of bytes of the largest string or object that the request has to process. */
  get bytes(): number {
    return Math.max(this.textBytes, this.storedBytes, this.responseBytes)
  }

  /**
   * Describes the request for logs. Omits the query and the contents of objects, because they can
   * contain secrets.
   */
  describe(): Readonly<Record<string, unknown>> {
    const { info } = this
    const target =
      info.kind === 'path'
        ? { path: info.path }
        : { resource: resourceText(info), namespace: info.namespace, name: info.name }
    return {
      verb: info.verb,
      ...target,
      bytes: this.bytes,
      user: this.#user?.name,
      auditId: this.auditId,
    }
  }

  /**
   * Records the length of a string from which an object is decoded. If a body in another format is
   * converted to JSON, the JSON can be far longer than the body.
   */
  recordText(bytes: number): void {
    if (bytes > this.textBytes) this.textBytes = bytes
  }

  /** Whether the request sends, changes or receives a large object. */
  get isLarge(): boolean {
    return this.bytes > LARGE_BYTES
  }

  /**
   * Time slices for requests that work on a large object. Only one of these requests gets a slice
   * in each tick of the event loop.
   */
  get slices(): Slices {
    this.#slices ??= new Slices(systemTime, { isExpensive: true })
    return this.#slices
  }

  /**
   * Runs a step of a request that has a large object. The step is divided into slices, so that
   * other requests are served in between. Fails when the client no longer waits for the response.
   */
  inParts<T>(work: () => T): Promise<T> {
    const { signal } = this
    const step = (): T => {
      signal.throwIfAborted()
      return work()
    }
    return inParts(step, this.slices)
  }

  /**
   * Runs a step of the request. For a large object, the step is divided into parts, between which
   * other requests are served.
   */
  divide<T>(work: () => T): MaybePromise<T> {
    return this.isLarge ? this.inParts(work) : work()
  }

  /**
   * Signal that is aborted when the client no longer waits for the response: the client has
   * disconnected, or the deadline has passed (a TimeoutError).
   */
  get signal(): AbortSignal {
    this.#signal ??= this.#createSignal()
    return this.#signal
  }

  /** Whether the signal was aborted because the deadline had passed. */
  get hasTimedOut(): boolean {
    return this.#hasTimedOut
  }

  /**
   * Returns whether the client no longer waits for the response at `nowMs`, a time on the monotonic
   * clock. Unlike `signal`, this creates no AbortSignal.
   */
  hasEndedAt(nowMs: number): boolean {
    return this.#signal?.aborted === true || nowMs >= this.deadlineMs
  }

  /**
   * Aborts the signal because the deadline has passed, so that work that is still running stops
   * now. The signal's own timer might not fire, because `end` releases the timer.
   */
  timeOut(): void {
    this.#signal ??= this.#createSignal()
    this.#abort?.()
  }

  /**
   * Releases the timer and the listener of the signal. Must be called when the response is
   * complete.
   */
  end(): void {
    this.#release?.()
    this.#release = undefined
  }

  /**
   * Adds a listener that is called when the write of this request is stored or has failed. This can
   * happen after the response has been sent.
   */
  onWriteEnd(listener: () => void): void {
    this.#onWriteEnd ??= []
    this.#onWriteEnd.push(listener)
  }

  endWrite(): void {
    if (this.#onWriteEnd === undefined) return
    for (const listener of this.#onWriteEnd) listener()
    this.#onWriteEnd = undefined
  }

  /** Adds a Warning header to the response. The same warning is sent only once. */
  warn(text: string): void {
    this.#warnings ??= new Set()
    this.#warnings.add(text)
  }

  /**
   * Like `warn`, but for warnings about this server instead of the API. They have the warn-agent
   * (RFC 7234, section 5.5) `keelson`.
   */
  warnOfOwn(text: string): void {
    this.#ownWarnings ??= new Set()
    this.#ownWarnings.add(text)
  }

  get ownWarnings(): readonly string[] {
    return this.#ownWarnings === undefined ? none : [...this.#ownWarnings]
  }

  get warnings(): readonly string[] {
    return this.#warnings === undefined ? none : [...this.#warnings]
  }

  /** Sets an audit annotation. If a key is set again, its first value is retained. */
  annotate(key: string, value: string): void {
    this.#annotations ??= new Map()
    if (!this.#annotations.has(key)) this.#annotations.set(key, value)
  }

  /** All annotations except those for the authorization decision. Undefined if there are none. */
  get ownAnnotations(): ReadonlyMap<string, string> | undefined {
    return this.#annotations
  }

  /** All annotations, including those for the authorization decision. */
  get annotations(): ReadonlyMap<string, string> {
    const own = this.#annotations ?? []
    return this.decision === undefined
      ? new Map(own)
      : new Map([...decisionAnnotations(this.decision), ...own])
  }

  #createSignal(): AbortSignal {
    const { client } = this.#options
    if (this.deadlineMs === Infinity) return client.signal
    // Do not use `AbortSignal.any` with `AbortSignal.timeout`: they would take 30 µs, which is a
    // quarter of the time of a small request.
    const controller = new AbortController()
    this.spent.waitWith(controller.signal)
    const onGone = (reason?: unknown): void => controller.abort(reason)
    const onLate = (): void => {
      if (controller.signal.aborted) return
      this.#hasTimedOut = true
      controller.abort(new DOMException('the time is up', 'TimeoutError'))
    }
    this.#abort = onLate
    const timer = this.isTimed ? undefined : this.#timer(onLate)
    const forget = whenGone(client, onGone)
    this.#release = () => {
      clearTimeout(timer)
      forget()
    }
    return controller.signal
  }

  #timer(onLate: () => void): NodeJS.Timeout {
    const leftMs = Math.max(0, Math.ceil(this.deadlineMs - this.#options.monotonicMs()))
    return setTimeout(onLate, Math.min(leftMs, TIMER_MS_MAX)).unref()
  }
}

/** Calls back when the client has disconnected. The returned function removes the callback. */
function whenGone(
  client: ContextOptions['client'],
  onGone: (reason?: unknown) => void,
): () => void {
  if (client.onGone !== undefined) {
    client.onGone(onGone)
    return () => client.onGone?.(undefined)
  }
  const { signal } = client
  const onAbort = (): void => onGone(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  return () => signal.removeEventListener('abort', onAbort)
}

/** Formats the resource for logs, such as `deployments.apps/scale`. */
function resourceText({ plural, group, subresource }: ResourceInfo): string {
  return `${plural}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`
}

/**
 * Returns the annotations of a decision. The error of a failed authorizer is left out, because it
 * is only logged.
 */
function decisionAnnotations({
  verdict,
  reason,
  error,
}: AccessDecision): readonly (readonly [string, string])[] {
  const prefix = 'authorization.k8s.io/'
  if (verdict !== 'allow' && error !== undefined) return [[`${prefix}reason`, 'internal error']]
  return [
    [`${prefix}decision`, verdict === 'allow' ? 'allow' : 'forbid'],
    [`${prefix}reason`, reason],
  ]
}

const none: readonly string[] = []
