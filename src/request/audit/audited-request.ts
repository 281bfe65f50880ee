/**
 * Records one request, starting with its authentication. Collects data while the request is
 * processed, and stores an event for each audit stage. The audit stages are RequestReceived,
 * ResponseStarted for long-running requests, and then ResponseComplete or Panic.
 */
import type { AuditRecorder } from '../../api/audited.ts'
import type { RequestContext, RequestInfo } from '../../api/context.ts'
import { auditFailed, type Status } from '../../api/errors.ts'
import type { ObjectMeta } from '../../api/object.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { User } from '../../api/user.ts'
import { readVerbs } from '../../api/verbs.ts'
import { messageOf } from '../../lib/errors.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { printOrdered } from '../../objects/codec/json.ts'
import type { AuditStage } from '../../config/files/audit-policy.ts'
import { stepOf } from '../../lib/scheduling/parts.ts'
import { inSlices, type Slices, type Steps } from '../../lib/scheduling/slices.ts'
import type { Urgency } from './backend.ts'
import { annotationsOf, SLOW_MS } from './annotations.ts'
import {
  type AuditEvent,
  EventPrinter,
  type BodyReference,
  type EventPrinterContext,
  type ResponseStatus,
} from './event.ts'
import type { Recording } from './policy.ts'
import { recordedObject, recordedPatch, withoutNewline } from './recorded-json.ts'
import type { Annotations } from './cached-fields.ts'
import { whenEnded } from './when-ended.ts'

/** A request at the time of its arrival. */
export type ReceivedRequest = {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly auditId: string
  /** Time of arrival on the monotonic clock. */
  readonly startMs: number
  /** Current time on the monotonic clock. */
  readonly nowMs: number
  /**
   * Whether the request is a watch, or is streamed from another server. For such requests, the
   * beginning of the response is also recorded.
   */
  readonly isLongRunning: boolean
}

/**
 * The functions of the audit log with which a request is recorded, and the values that all requests
 * share.
 */
export type Recorder = {
  readonly printing: EventPrinterContext
  readonly monotonicMs: () => number
  readonly isStrict: boolean
  readonly isOrdered: boolean
  readonly objectBytesMax: number
  readonly store: (event: AuditEvent, urgency: Urgency) => MaybePromise<boolean>
  readonly countRejected: () => void
}

/** Data about the end of a request that its audit event contains, in addition to the response. */
export type Outcome = {
  /** The Status object in the response body. */
  readonly status?: Status | undefined
  /** The error, if the handler of the request failed unexpectedly. */
  readonly panic?: unknown
  /** Current time on the monotonic clock. */
  readonly nowMs: number
}

/**
 * Number of additional copies of an object while its managedFields are removed: the object as a
 * string, and the result as bytes.
 */
const OMITTING_COPIES = 2

export class AuditedRequest implements AuditRecorder {
  readonly wantsRequest: boolean
  readonly wantsResponse: boolean
  readonly objectBytesMax: number
  readonly copies: number
  readonly #recorder: Recorder
  readonly #arrived: ReceivedRequest
  readonly #recording: Recording
  readonly #printer: EventPrinter
  readonly #uri: string
  readonly #receivedMs: number
  readonly #authenticatedMs: number
  #context: RequestContext | undefined
  /** The result of storing the last event. Set if the response must wait for it. */
  #storing: Promise<boolean> | undefined
  #named: BodyReference | undefined
  #printRequest: (() => Steps<Buffer>) | undefined
  #requestObject: Buffer | undefined
  #printResponse: (() => Steps<Buffer>) | undefined
  #responseObject: Buffer | undefined
  #printStatus: (() => Steps<void>) | undefined
  #isTruncated = false
  #isRejected = false
  #response: ResponseStatus | undefined

  /** Begins to record a request. `user` is undefined if authentication failed. */
  constructor(
    {
      arrived,
      user,
      recording,
    }: { arrived: ReceivedRequest; user: User | undefined; recording: Recording },
    recorder: Recorder,
  ) {
    const { request, info, auditId } = arrived
    const { level } = recording
    this.#recorder = recorder
    this.#arrived = arrived
    this.#recording = recording
    this.wantsRequest = level === 'Request' || level === 'RequestResponse'
    this.wantsResponse = level === 'RequestResponse'
    this.objectBytesMax = recorder.objectBytesMax
    this.copies = recording.omitsManagedFields ? OMITTING_COPIES : 0
    this.#uri = uriOf(request)
    const { texts, time } = recorder.printing
    this.#authenticatedMs = arrived.nowMs - arrived.startMs
    this.#receivedMs = time.now(arrived.nowMs) - this.#authenticatedMs
    const source = texts.source(request)
    const facts = {
      level,
      auditId,
      uri: this.#uri,
      user,
      source,
      info,
      receivedMs: this.#receivedMs,
    }
    this.#printer = new EventPrinter(facts, recorder.printing)
  }

  /**
   * Stores the first event. Most requests must be recorded before they run, because they write
   * objects or can have an effect on another server, such as an exec with the method GET. A read
   * can run earlier, if its response waits until a later event is stored. Fails if a strict backend
   * cannot record the request.
   */
  received(context: RequestContext): Promise<void> | undefined {
    this.#context = context
    const { isStrict } = this.#recorder
    const isAwaited = isStrict || !this.#onlyReads || this.#recording.omitsStage.ResponseComplete
    const stored = this.#emit('RequestReceived', this.#arrived.nowMs, isAwaited ? 'now' : 'soon')
    if (stored === true) return undefined
    if (stored === false) {
      if (isStrict) throw this.#reject()
      return undefined
    }
    if (!isAwaited) return undefined
    return stored.then((isStored) => {
      if (!isStored && isStrict) throw this.#reject()
    })
  }

  get #onlyReads(): boolean {
    const { info, isLongRunning } = this.#arrived
    return readVerbs.has(info.verb) && (info.verb === 'watch' || !isLongRunning)
  }

  requestObject(metadata: ObjectMeta | undefined, print: () => string | Buffer): void {
    if (metadata !== undefined) this.#named = metadata
    if (this.wantsRequest) this.#printRequest = () => this.#recorded(print)
  }

  requestPatch(body: Buffer): void {
    if (this.wantsRequest) this.#printRequest = () => recordedPatch(body, this.#slices)
  }

  responseObject(json: Buffer | undefined): void {
    if (json === undefined) this.#isTruncated = true
    else this.#printResponse = () => this.#recorded(() => json)
  }

  /** Records a request that was rejected before authentication. It has only one event. */
  refused(response: ApiResponse, { status, nowMs }: Outcome): MaybePromise<ApiResponse> {
    this.#setStatus(response, status)
    return this.#then(nowMs, (atMs) => after(this.#emit('ResponseStarted', atMs), response))
  }

  /** Records the end of a request. Returns the response to send, after the event is stored. */
  answered(response: ApiResponse, { status, panic, nowMs }: Outcome): MaybePromise<ApiResponse> {
    if (this.#isRejected) return response
    if (panic !== undefined) {
      this.#response = { code: response.status, status: panicStatus(panic) }
      return this.#then(nowMs, (atMs) => after(this.#emit('Panic', atMs), response))
    }
    this.#setStatus(response, status)
    return this.#hasObjects
      ? this.#then(nowMs, (atMs) => this.#finish(response, atMs))
      : this.#finish(response, nowMs)
  }

  #setStatus(response: ApiResponse, status: Status | undefined): void {
    this.#response = { code: response.status, status }
    if (status === undefined) return
    if (isLong(response)) this.#printStatus = () => this.#longStatus(response, status)
    else if (this.wantsResponse)
      this.#printResponse = () => this.#recorded(() => printOrdered(status))
  }

  /**
   * Serializes a long Status only once for all events of the request. If the response contains the
   * Status as JSON, as for most clients, that JSON is used.
   */
  *#longStatus(response: ApiResponse, status: Status): Steps<void> {
    const json = statusJsonOf(response) ?? (yield* this.#recorded(() => printOrdered(status)))
    const { metadata } = status
    if (Object.keys(metadata).length === 0)
      this.#response = { code: response.status, printed: json.subarray(statusHead.length) }
    if (this.wantsResponse) this.#responseObject = json
  }

  #finish(response: ApiResponse, nowMs: number): MaybePromise<ApiResponse> {
    const started = this.#arrived.isLongRunning ? this.#emit('ResponseStarted', nowMs) : true
    if ('body' in response && !isRelayed(response.body))
      return after(this.#emit('ResponseComplete', nowMs), response)
    return after(
      started,
      whenEnded(response, this.#arrived.request, (isCut) => this.#ended(isCut)),
    )
  }

  /**
   * Records the end of a stream. `isCut` means that the stream ended early. In kube-apiserver, the
   * handler panics in this case.
   */
  #ended(isCut: boolean): void {
    if (isCut) this.#response = { code: 500, status: panicStatus('net/http: abort Handler') }
    void this.#emit(isCut ? 'Panic' : 'ResponseComplete', this.#recorder.monotonicMs())
  }

  get #hasObjects(): boolean {
    return (
      this.#printRequest !== undefined ||
      this.#printResponse !== undefined ||
      this.#printStatus !== undefined
    )
  }

  /**
   * Serializes the recorded objects of the request in slices, then calls `finish`. For most
   * requests, no objects are recorded.
   */
  #then(
    nowMs: number,
    finish: (atMs: number) => MaybePromise<ApiResponse>,
  ): MaybePromise<ApiResponse> {
    if (!this.#hasObjects) return finish(nowMs)
    return this.#print().then(() => finish(this.#recorder.monotonicMs()))
  }

  async #print(): Promise<void> {
    const slices = this.#slices
    if (this.#printRequest !== undefined)
      this.#requestObject = await inSlices(this.#printRequest(), slices)
    if (this.#printResponse !== undefined)
      this.#responseObject = await inSlices(this.#printResponse(), slices)
    if (this.#printStatus !== undefined) await inSlices(this.#printStatus(), slices)
  }

  *#recorded(print: () => string | Buffer): Steps<Buffer> {
    return yield* recordedObject(
      yield* stepOf(print, this.#slices),
      this.#recording.omitsManagedFields,
    )
  }

  /**
   * Time slices in which large objects are serialized. Undefined if the request does not handle
   * large objects.
   */
  get #slices(): Slices | undefined {
    return this.#context?.isLarge === true ? this.#context.slices : undefined
  }

  /** Stores the event of a stage. `nowMs` is a time on the monotonic clock. */
  #emit(stage: AuditStage, nowMs: number, urgency: Urgency = 'now'): MaybePromise<boolean> {
    if (this.#recording.omitsStage[stage]) return true
    const isFirst = stage === 'RequestReceived'
    const stageMs = isFirst ? this.#receivedMs : this.#recorder.printing.time.now(nowMs)
    const context = this.#context
    const event = this.#printer.print({
      stage,
      impersonated: context?.impersonator === undefined ? undefined : context.knownUser,
      named: this.#named,
      response: this.#response,
      requestObject: this.#requestObject,
      responseObject: this.#responseObject,
      isTruncated: this.#isTruncated,
      stageMs,
      annotations: context && this.#annotationsOf(context, stage, stageMs),
    })
    return this.#store(event, urgency)
  }

  /**
   * Stores an event. The events of a request are stored one after another, because concurrent calls
   * of a webhook could overtake each other.
   */
  #store(event: AuditEvent, urgency: Urgency): MaybePromise<boolean> {
    const { isOrdered } = this.#recorder
    const before = isOrdered ? undefined : this.#storing
    const stored =
      before === undefined
        ? this.#recorder.store(event, urgency)
        : before.then(() => this.#recorder.store(event, urgency))
    if (!isOrdered && stored instanceof Promise) this.#storing = stored
    return stored
  }

  /**
   * Returns the annotations of an event. The annotations of most requests contain only that the
   * request is allowed, so these requests share one object.
   */
  #annotationsOf(
    context: RequestContext,
    stage: AuditStage,
    atMs: number,
  ): Annotations | undefined {
    const { decision, ownAnnotations, deprecatedUntil } = context
    const { texts } = this.#recorder.printing
    const totalMs = atMs - this.#receivedMs
    if (ownAnnotations === undefined && deprecatedUntil === undefined && totalMs <= SLOW_MS) {
      if (decision === undefined) return undefined
      if (decision.verdict === 'allow') return texts.allowed(decision.reason)
    }
    return annotationsOf(context, stage, { totalMs, authenticationMs: this.#authenticatedMs })
  }

  /**
   * Returns the error for a request that cannot be recorded. No further events of the request are
   * recorded.
   */
  #reject(): Error {
    this.#isRejected = true
    this.#recorder.countRejected()
    return auditFailed(this.#uri)
  }
}

const isRelayed = (body: Extract<ApiResponse, { body: unknown }>['body']): boolean =>
  !Buffer.isBuffer(body) && 'chunks' in body && body.isRelayed === true

/** Maximum size of a response whose Status is serialized again for its event. */
const LONG_BYTES = 16 << 10

const isLong = (response: ApiResponse): boolean =>
  'body' in response && Buffer.isBuffer(response.body) && response.body.length > LONG_BYTES

/** Beginning of the JSON of a Status. In events, a Status has no kind and no apiVersion. */
const statusHead = Buffer.from('{"kind":"Status","apiVersion":"v1",')

/** Returns the JSON of the Status in the response, if the body of the response is a Status. */
function statusJsonOf(response: ApiResponse): Buffer | undefined {
  if (!('body' in response) || !Buffer.isBuffer(response.body)) return undefined
  const { body } = response
  return body.subarray(0, statusHead.length).equals(statusHead) ? withoutNewline(body) : undefined
}

/**
 * Returns the URI as the client sent it. If the original path or query is unknown, the parsed one
 * is used.
 */
function uriOf({ path, rawPath = path, query, rawQuery }: ApiRequest): string {
  const asked = rawQuery ?? query.toString()
  return asked === '' ? rawPath : `${rawPath}?${asked}`
}

const panicStatus = (error: unknown): Omit<Status, 'code'> => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: `APIServer panic'd: ${messageOf(error)}`,
  reason: 'InternalError',
})

/** Returns the response after the event is stored. */
const after = (stored: MaybePromise<boolean>, response: ApiResponse): MaybePromise<ApiResponse> =>
  typeof stored === 'boolean' ? response : stored.then(() => response)
