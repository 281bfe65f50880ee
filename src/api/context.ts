/**
 * What accompanies a request through all layers: its user, its target, its deadline, and what is
 * collected on the way for the response (warnings) and for the audit log (annotations). Most
 * requests need little of it, so expensive parts are created on first use.
 */
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

/** A path outside of the resources: discovery, health. */
export type PathInfo = { readonly kind: 'path'; readonly verb: string; readonly path: string }

/** What the path says about a resource. It is not resolved yet: the resource may not exist. */
export type ResourceInfo = {
  readonly kind: 'resource'
  /** A Kubernetes verb; empty if the HTTP method stands for none. */
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly subresource: string
  /** Empty if the path names no namespace. */
  readonly namespace: string
  /** From the path; for lists and watches also from a field selector that admits a single name. */
  readonly name: string
  /** The segments of the path after the version (and `watch`), as they were sent. */
  readonly segments: readonly string[]
  /** `/watch/…`: the deprecated path of a watch. */
  readonly isWatchPath: boolean
  /** Of a list, a watch or a deletecollection, for authorization. Undefined: the query has none. */
  readonly selectors?: (() => AccessSelectors) | undefined
}

/** Each step of a write takes a millisecond or two for an object of this size. */
const LARGE_BYTES = 64 * 1024

export type ContextOptions = {
  readonly auditId: string
  readonly info: RequestInfo
  /** The request, which is asked for its signal only if that is needed. */
  readonly client: Pick<ApiRequest, 'signal' | 'onGone'>
  /**
   * How long the request may take, from `startMs` on. Infinity for watches, which have a timeout of
   * their own.
   */
  readonly timeoutMs: number
  /** When the request came, on the monotonic clock. Absent: now. */
  readonly startMs?: number
  readonly monotonicMs: () => number
}

export class RequestContext implements Work {
  readonly auditId: string
  readonly info: RequestInfo
  #user: User | undefined
  #caller: User | undefined
  /** Of the authorizers; undefined: the request was refused before. */
  decision: AccessDecision | undefined
  /** Undefined: the request is not traced. */
  span: Span | undefined
  /** Where its time went. */
  readonly spent = new RequestTimings()
  /** The length of its body; -1: none was read. */
  bodyBytes = -1
  /**
   * The length of the longest text that its objects were decoded from. Their texts are parts of it:
   * what keeps one of them keeps it.
   */
  textBytes = 0
  /** The length of the stored object that it works on, if that is known. */
  storedBytes = 0
  /**
   * The step that runs for the request, such as decode or validate. The log line of a long tick
   * names it.
   */
  step = ''
  /**
   * The release that no longer serves the version of the request; empty if it is not known,
   * undefined if the version is not deprecated.
   */
  deprecatedUntil: string | undefined
  /** Undefined: nothing of the request is recorded. */
  audited: AuditRecorder | undefined
  /** On the monotonic clock. */
  readonly deadlineMs: number
  /** Whether `timeOut` is called at the deadline: the signal needs no timer of its own. */
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

  /** The user that the request is made as. To be read only after authentication. */
  get user(): User {
    assert(this.#user !== undefined, 'a request that goes on has been authenticated')
    return this.#user
  }

  /** Undefined if the request was refused before authentication. */
  get knownUser(): User | undefined {
    return this.#user
  }

  /** The authenticated user. Undefined if the request was refused before authentication. */
  get caller(): User | undefined {
    return this.#caller
  }

  /** The authenticated user, if the request impersonates another one. */
  get impersonator(): User | undefined {
    return this.#caller === this.#user ? undefined : this.#caller
  }

  /** `caller` was authenticated; the request is made as this user unless `actAs` follows. */
  identify(caller: User): void {
    this.#caller = caller
    this.#user = caller
  }

  /** The caller impersonates `user`, and may. */
  actAs(user: User): void {
    this.#user = user
  }

  /** The whole body of its request. */
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

  /** A step of the request begins, or goes on. */
  enter(step: string): void {
    this.step = step
    runningWork.note(this)
  }

  /** The size of what the request works on. */
  get bytes(): number {
    return Math.max(this.textBytes, this.storedBytes)
  }

  /** Neither the query nor any part of an object: both may contain secrets. */
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
   * An object is decoded from a text of this length: the JSON of a body of another form may be far
   * longer than the body.
   */
  recordText(bytes: number): void {
    if (bytes > this.textBytes) this.textBytes = bytes
  }

  /** Whether the request works on a large object: one that it sent, or one that it changes. */
  get isLarge(): boolean {
    return this.textBytes > LARGE_BYTES || this.storedBytes > LARGE_BYTES
  }

  /** For requests that work on a large object: of all of them, one has a slice in a turn. */
  get slices(): Slices {
    this.#slices ??= new Slices(systemTime, { isExpensive: true })
    return this.#slices
  }

  /**
   * Runs a step of a request that works on a large object, while others are served. It ends when
   * nobody waits for the response any more.
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
   * Aborted when nobody waits for the response any more: the client has disconnected, or the
   * deadline has passed (a TimeoutError).
   */
  get signal(): AbortSignal {
    this.#signal ??= this.#createSignal()
    return this.#signal
  }

  /** The signal was aborted because the deadline had passed. */
  get hasTimedOut(): boolean {
    return this.#hasTimedOut
  }

  /** How long the request has taken so far. */
  get elapsedMs(): number {
    return this.#options.monotonicMs() - this.#startMs
  }

  /**
   * At this time of the monotonic clock nobody waits for the response any more. Creates no signal.
   */
  hasEndedAt(nowMs: number): boolean {
    return this.#signal?.aborted === true || nowMs >= this.deadlineMs
  }

  /** The deadline has passed: what still runs ends now, since `end` releases the timer. */
  timeOut(): void {
    this.#signal ??= this.#createSignal()
    this.#abort?.()
  }

  /** The response is complete: releases the timer and the listener of the signal. */
  end(): void {
    this.#release?.()
    this.#release = undefined
  }

  /**
   * The listener is called when the write of this request is stored or has failed, which may be
   * after the response.
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

  /** Adds a Warning header to the response. A repeated text is sent once. */
  warn(text: string): void {
    this.#warnings ??= new Set()
    this.#warnings.add(text)
  }

  /**
   * As `warn`, for warnings about this server and not about the API: their warn-agent (RFC 7234,
   * section 5.5) is `keelson`.
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

  /** Sets an audit annotation; the first value of a key is kept. */
  annotate(key: string, value: string): void {
    this.#annotations ??= new Map()
    if (!this.#annotations.has(key)) this.#annotations.set(key, value)
  }

  /** Without those of the authorizers' decision. Undefined: none. */
  get ownAnnotations(): ReadonlyMap<string, string> | undefined {
    return this.#annotations
  }

  /** With those of the authorizers' decision. */
  get annotations(): ReadonlyMap<string, string> {
    const own = this.#annotations ?? []
    return this.decision === undefined
      ? new Map(own)
      : new Map([...decisionAnnotations(this.decision), ...own])
  }

  #createSignal(): AbortSignal {
    const { client } = this.#options
    if (this.deadlineMs === Infinity) return client.signal
    // Not AbortSignal.any with AbortSignal.timeout: that costs 30 µs, a quarter of a small request.
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

/** Calls back when the client has disconnected. The returned function ends that. */
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

/** `deployments.apps/scale`. */
function resourceText({ plural, group, subresource }: ResourceInfo): string {
  return `${plural}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`
}

/** If an authorizer failed, its error is for the log alone. */
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
