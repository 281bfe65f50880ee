/**
 * Serializes an audit event (audit.k8s.io/v1): as JSON with the fields in kube-apiserver's order,
 * or as one line of text.
 */
import type { RequestInfo, ResourceInfo } from '../../api/context.ts'
import type { Status } from '../../api/errors.ts'
import type { User } from '../../api/user.ts'
import { plainCharacters, printOrdered, printString } from '../../objects/codec/json.ts'
import type { AuditLevel, AuditStage } from '../../config/files/audit-policy.ts'
import { ByteText } from '../../lib/bytes/byte-text.ts'
import {
  type Annotations,
  CachedFields,
  printField,
  printUser,
  type Source,
} from './cached-fields.ts'
import { legacyLine } from './legacy-line.ts'
import { type MicroClock, TimeField } from './micro-clock.ts'

/**
 * An event as backends receive it. The event is serialized on demand. Most events are serialized
 * once, directly into the memory from which they are written.
 */
export interface AuditEvent {
  readonly level: AuditLevel
  /**
   * Size in bytes of the parts that are already serialized: the request and response objects, and a
   * long Status.
   */
  readonly printedBytes: number
  /** The event as JSON on one line, without a newline. */
  readonly json: string
  /** Appends the event as JSON. */
  print(into: ByteText): void
  /** Returns the JSON in pieces, without copying the parts that are already serialized. */
  pieces(): readonly Buffer[]
  /** Returns the JSON without the request and response objects, marked as truncated. */
  truncated(): string
  /** Returns the event as a line in the `legacy` format, without the newline at the end. */
  line(): string
}

/** Returns a copy of an event with the given JSON, which must not change. */
export const printedEvent = (event: AuditEvent, json: Buffer): AuditEvent => ({
  level: event.level,
  printedBytes: json.length,
  get json() {
    return json.toString()
  },
  print: (into) => into.append(json),
  pieces: () => [json],
  truncated: () => json.toString(),
  line: () => event.line(),
})

/** Data of a request that is known when the request arrives. */
export type EventFacts = {
  readonly level: AuditLevel
  readonly auditId: string
  readonly uri: string
  /** The authenticated user. Undefined if authentication failed. */
  readonly user: User | undefined
  readonly source: Source
  readonly info: RequestInfo
  /** Time at which the request arrived, in milliseconds since 1970, with fractions. */
  readonly receivedMs: number
}

/** Parts of the object reference that come from the body of the request. */
export type BodyReference = {
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
}

export type ResponseStatus = {
  readonly code: number
  readonly status?: Omit<Status, 'code'> | undefined
  /** The fields of a long Status as JSON, from `metadata` to the closing brace. */
  readonly printed?: Buffer | undefined
}

/** Data that changes from one stage of a request to the next. */
export type StageFacts = {
  readonly stage: AuditStage
  readonly impersonated: User | undefined
  readonly named: BodyReference | undefined
  readonly response: ResponseStatus | undefined
  /** Object in the request, as JSON. */
  readonly requestObject: Buffer | undefined
  readonly responseObject: Buffer | undefined
  /** Whether an object was left out because of its size. */
  readonly isTruncated: boolean
  /** Time at which the stage was reached, in the same unit as `receivedMs`. */
  readonly stageMs: number
  /** Annotations of the event. Undefined if there are none. */
  readonly annotations: Annotations | undefined
}

/** State that the events of all requests share. */
export class EventPrinterContext {
  readonly time: MicroClock
  readonly texts = new CachedFields()
  readonly receivedField = new TimeField(',"requestReceivedTimestamp":"')
  readonly stageField = new TimeField('Z","stageTimestamp":"')

  constructor(time: MicroClock) {
    this.time = time
  }
}

/**
 * Positions in `text` of the parts that the next event of the request also contains. The next event
 * copies them, unless `text` has been reused in the meantime.
 */
type SharedFields = {
  readonly text: ByteText
  /**
   * The value of `text.uses` when this event was serialized. It shows whether `text` has been
   * reused since.
   */
  readonly uses: number
  readonly named: BodyReference | undefined
  readonly start: number
  readonly idEnd: number
  readonly uriStart: number
  readonly referenceEnd: number
}

/** Serializes the events of one request. These events differ only in a few fields. */
export class EventPrinter {
  readonly facts: EventFacts
  readonly #parts: EventPrinterContext
  #shared: SharedFields | undefined

  constructor(facts: EventFacts, parts: EventPrinterContext) {
    this.facts = facts
    this.#parts = parts
  }

  print(stage: StageFacts): AuditEvent {
    return new PrintedEvent(this, stage)
  }

  /** Appends an event. `addPrinted` adds a part that is already serialized. */
  append(
    into: ByteText,
    facts: StageFacts,
    {
      isTruncated,
      addPrinted,
    }: { readonly isTruncated: boolean; readonly addPrinted: (json: Buffer) => void },
  ): void {
    this.#appendRequest(into, facts)
    const { response, requestObject, responseObject } = facts
    if (response?.printed !== undefined) {
      into.append(pieces.status)
      addPrinted(response.printed)
    } else if (response !== undefined) appendStatus(into, response)
    if (requestObject !== undefined && !isTruncated) {
      into.append(pieces.requestObject)
      addPrinted(requestObject)
    }
    if (responseObject !== undefined && !isTruncated) {
      into.append(pieces.responseObject)
      addPrinted(responseObject)
    }
    const { time, receivedField, stageField } = this.#parts
    time.append(into, this.facts.receivedMs, receivedField)
    time.append(into, facts.stageMs, stageField)
    const annotations = isTruncated ? { ...facts.annotations, ...truncatedMark } : facts.annotations
    into.append(annotations === undefined ? pieces.end : this.#parts.texts.end(annotations))
  }

  /** Appends the fields from the beginning of the event to the object reference. */
  #appendRequest(into: ByteText, { stage, named, impersonated }: StageFacts): void {
    const shared = impersonated === undefined ? this.#sharedWith(named) : undefined
    const start = into.length
    if (shared === undefined) {
      into.append(heads[this.facts.level])
      appendCharacters(into, this.facts.auditId)
    } else into.copy(shared.text, shared.start, shared.idEnd)
    const idEnd = into.length
    into.append(stages[stage])
    const uriStart = into.length
    if (shared !== undefined) return into.copy(shared.text, shared.uriStart, shared.referenceEnd)
    if (named === undefined && impersonated === undefined) this.#appendKnown(into)
    else this.#appendTarget(into, named, impersonated)
    if (impersonated !== undefined) return
    this.#shared = {
      text: into,
      uses: into.uses,
      named,
      start,
      idEnd,
      uriStart,
      referenceEnd: into.length,
    }
  }

  #sharedWith(named: BodyReference | undefined): SharedFields | undefined {
    const shared = this.#shared
    return shared?.named === named && shared?.text.uses === shared?.uses ? shared : undefined
  }

  /**
   * Appends the fields from the URI to the object reference, from the cache if possible. They
   * depend only on the URI, the verb, the user and the source of the request. The cache is
   * effective, because users often repeat a request and these fields make up most of an event.
   */
  #appendKnown(into: ByteText): void {
    const { uri, user, info, source } = this.facts
    if (user === undefined) return this.#appendTarget(into, undefined, undefined)
    const { texts } = this.#parts
    const asking = texts.asking(info.verb, user, source)
    const known = texts.target(asking, uri)
    if (known !== undefined) return into.append(known)
    const start = into.length
    this.#appendTarget(into, undefined, undefined)
    texts.keepTarget(asking, uri, () => into.copyOf(start))
  }

  #appendTarget(
    into: ByteText,
    named: BodyReference | undefined,
    impersonated: User | undefined,
  ): void {
    const { uri, user, info, source } = this.facts
    const { texts } = this.#parts
    appendCharacters(into, uri)
    if (user !== undefined && impersonated === undefined)
      into.append(texts.asking(info.verb, user, source).fields)
    else {
      const as = impersonated === undefined ? '' : `,"impersonatedUser":${printUser(impersonated)}`
      into.text(
        `","verb":${printString(info.verb)},"user":${user === undefined ? '{}' : printUser(user)}${as}`,
      )
      into.append(source.fields)
    }
    if (info.kind === 'resource') appendReference(into, info, named, texts)
  }
}

const headOf = (level: AuditLevel): Buffer =>
  Buffer.from(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}","auditID":"`)
const heads: Readonly<Record<AuditLevel, Buffer>> = {
  None: headOf('None'),
  Metadata: headOf('Metadata'),
  Request: headOf('Request'),
  RequestResponse: headOf('RequestResponse'),
}

const stageOf = (stage: AuditStage): Buffer => Buffer.from(`","stage":"${stage}","requestURI":"`)
const stages: Readonly<Record<AuditStage, Buffer>> = {
  RequestReceived: stageOf('RequestReceived'),
  ResponseStarted: stageOf('ResponseStarted'),
  ResponseComplete: stageOf('ResponseComplete'),
  Panic: stageOf('Panic'),
}

const pieces = {
  ok: Buffer.from(',"responseStatus":{"metadata":{},"code":200}'),
  status: Buffer.from(',"responseStatus":{'),
  requestObject: Buffer.from(',"requestObject":'),
  responseObject: Buffer.from(',"responseObject":'),
  end: Buffer.from('Z"}'),
} as const

/**
 * Initial buffer size for an event, a few hundred bytes more than an event without objects needs.
 */
const EVENT_BYTES = 2048

class PrintedEvent implements AuditEvent {
  readonly #printer: EventPrinter
  readonly #stage: StageFacts

  constructor(printer: EventPrinter, stage: StageFacts) {
    this.#printer = printer
    this.#stage = stage
  }

  get level(): AuditLevel {
    return this.#printer.facts.level
  }

  get printedBytes(): number {
    const { response, requestObject, responseObject, isTruncated } = this.#stage
    const statusBytes = response?.printed?.length ?? 0
    return isTruncated
      ? statusBytes
      : statusBytes + (requestObject?.length ?? 0) + (responseObject?.length ?? 0)
  }

  get json(): string {
    return Buffer.concat(this.pieces()).toString()
  }

  print(into: ByteText): void {
    const { isTruncated } = this.#stage
    this.#printer.append(into, this.#stage, {
      isTruncated,
      addPrinted: (json) => into.append(json),
    })
  }

  pieces(): readonly Buffer[] {
    return this.#pieces(this.#stage.isTruncated)
  }

  truncated(): string {
    return Buffer.concat(this.#pieces(true)).toString()
  }

  line(): string {
    return legacyLine(this.truncated())
  }

  #pieces(isTruncated: boolean): Buffer[] {
    const text = new ByteText(EVENT_BYTES)
    const made: Buffer[] = []
    let start = 0
    const addPrinted = (json: Buffer): void => {
      made.push(text.bytes.subarray(start), json)
      start = text.length
    }
    this.#printer.append(text, this.#stage, { isTruncated, addPrinted })
    made.push(text.bytes.subarray(start))
    return made
  }
}

const truncatedMark = { 'audit.k8s.io/truncated': 'true' }

/**
 * Appends the object reference. Empty fields are left out. For the path `/api/v1//x`, the resource
 * is also empty.
 */
function appendReference(
  into: ByteText,
  info: ResourceInfo,
  named: BodyReference | undefined,
  texts: CachedFields,
): void {
  const { plural, group, version, subresource } = info
  if (named !== undefined || subresource !== '' || plural === '')
    return into.text(printReference(info, named))
  if (info.name === '') {
    into.append(texts.place(plural, info.namespace))
    into.append(texts.version(group, version))
    return
  }
  into.append(texts.namedPlace(plural, info.namespace))
  appendCharacters(into, info.name)
  into.append(texts.namedVersion(group, version))
}

function printReference(info: ResourceInfo, named: BodyReference | undefined): string {
  const { plural, group, version, subresource } = info
  const fields =
    printField('resource', plural) +
    printField('namespace', info.namespace || (named?.namespace ?? '')) +
    printField('name', info.name || (named?.name ?? '')) +
    printField('uid', named?.uid ?? '') +
    printField('apiGroup', group) +
    printField('apiVersion', version) +
    printField('resourceVersion', named?.resourceVersion ?? '') +
    printField('subresource', subresource)
  return `,"objectRef":{${fields.slice(1)}}`
}

/** Appends the content of a JSON string, without quotes. */
function appendCharacters(into: ByteText, text: string): void {
  if (!into.listed(text, plainCharacters)) into.text(printString(text).slice(1, -1))
}

function appendStatus(into: ByteText, { code, status }: ResponseStatus): void {
  if (code === 200 && status === undefined) into.append(pieces.ok)
  else into.text(printStatus(code, status))
}

function printStatus(code: number, shown: Omit<Status, 'code'> | undefined): string {
  if (shown === undefined) return `,"responseStatus":{"metadata":{},"code":${code}}`
  const { status, message = '', reason = '', details } = shown
  const detailed = details === undefined ? '' : `,"details":${printOrdered(details)}`
  return `,"responseStatus":{"metadata":{}${printField('status', status)}${printField('message', message)}${printField('reason', reason)}${detailed},"code":${code}}`
}
