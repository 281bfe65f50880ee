/** An audit event, audit.k8s.io/v1, printed: as JSON with the fields in upstream's order, and as one line of text. */
import type { RequestInfo } from '../api/context.ts'
import type { Status } from '../api/errors.ts'
import { quote } from '../api/quote.ts'
import type { User } from '../api/user.ts'
import { printOrdered, printString } from '../codec/json.ts'
import type { AuditLevel, AuditStage } from '../config/files/audit-policy.ts'
import type { Annotations, KnownTexts, Source } from './known-texts.ts'

/** An event as backends get it. */
export type AuditEvent = {
  readonly level: AuditLevel
  /** JSON on one line, without a newline. */
  readonly json: string
  /** The same without the objects of request and response, marked as truncated. */
  readonly truncated: () => string
  /** The line of the format `legacy`, without a newline. */
  readonly line: () => string
}

/** What is known of a request from the beginning. */
export type EventFacts = {
  readonly level: AuditLevel
  readonly auditId: string
  readonly uri: string
  /** Undefined if authentication failed. */
  readonly user: User | undefined
  readonly source: Source
  readonly info: RequestInfo
  readonly receivedTime: string
}

/** What the body of the request adds to the reference to its object. */
export type Named = {
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
}

export type ResponseStatus = { readonly code: number; readonly status?: Omit<Status, 'code'> | undefined }

/** What changes from one stage of a request to the next. */
export type StageFacts = {
  readonly stage: AuditStage
  readonly impersonated: User | undefined
  readonly named: Named | undefined
  readonly response: ResponseStatus | undefined
  /** JSON. */
  readonly requestObject: string | undefined
  readonly responseObject: string | undefined
  /** Whether an object was left out since it is too large. */
  readonly isTruncated: boolean
  readonly stageTime: string
  /** Undefined: none. */
  readonly annotations: Annotations | undefined
}

/** Prints the events of one request, which have most of their text in common. */
export class EventPrinter {
  readonly #facts: EventFacts
  readonly #texts: KnownTexts
  readonly #head: string
  readonly #middle: string
  readonly #times: string
  #reference: { readonly named: Named | undefined; readonly text: string } | undefined

  constructor(facts: EventFacts, texts: KnownTexts) {
    const { level, auditId, uri, user, info } = facts
    this.#facts = facts
    this.#texts = texts
    this.#head = `${heads[level] + printString(auditId)},"stage":"`
    const shown = user === undefined ? '{}' : texts.user(user)
    this.#middle = `","requestURI":${printString(uri)},"verb":"${info.verb}","user":${shown}`
    this.#times = `,"requestReceivedTimestamp":"${facts.receivedTime}","stageTimestamp":"`
  }

  print(stage: StageFacts): AuditEvent {
    return new PrintedEvent(this, this.#facts, stage)
  }

  json(facts: StageFacts, isTruncated: boolean): string {
    const { stage, impersonated, response, requestObject, responseObject } = facts
    let text = this.#head + stage + this.#middle
    if (impersonated !== undefined) text += `,"impersonatedUser":${this.#texts.user(impersonated)}`
    text += this.#facts.source.text + this.#referenceTo(facts.named)
    if (response !== undefined) text += printStatus(response)
    if (requestObject !== undefined && !isTruncated) text += `,"requestObject":${requestObject}`
    if (responseObject !== undefined && !isTruncated) text += `,"responseObject":${responseObject}`
    text += this.#times + facts.stageTime
    const annotations = isTruncated ? { ...facts.annotations, ...truncatedMark } : facts.annotations
    return annotations === undefined ? `${text}"}` : `${text}","annotations":${this.#texts.annotations(annotations)}}`
  }

  /** Mostly the same in all events of a request. */
  #referenceTo(named: Named | undefined): string {
    if (this.#reference === undefined || this.#reference.named !== named) {
      this.#reference = { named, text: printReference(this.#facts.info, named) }
    }
    return this.#reference.text
  }
}

const headOf = (level: AuditLevel): string =>
  `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}","auditID":`
const heads: Readonly<Record<AuditLevel, string>> = {
  None: headOf('None'),
  Metadata: headOf('Metadata'),
  Request: headOf('Request'),
  RequestResponse: headOf('RequestResponse'),
}

class PrintedEvent implements AuditEvent {
  readonly level: AuditLevel
  readonly json: string
  readonly #printer: EventPrinter
  readonly #facts: EventFacts
  readonly #stage: StageFacts

  constructor(printer: EventPrinter, facts: EventFacts, stage: StageFacts) {
    this.level = facts.level
    this.json = printer.json(stage, stage.isTruncated)
    this.#printer = printer
    this.#facts = facts
    this.#stage = stage
  }

  truncated(): string {
    return this.#printer.json(this.#stage, true)
  }

  line(): string {
    return printLine(this.#facts, this.#stage)
  }
}

const truncatedMark = { 'audit.k8s.io/truncated': 'true' }

function printReference(info: RequestInfo, named: Named | undefined): string {
  if (info.kind === 'path') return ''
  const { plural, group, version, subresource } = info
  const fields =
    field('resource', plural) +
    field('namespace', info.namespace || (named?.namespace ?? '')) +
    field('name', info.name || (named?.name ?? '')) +
    field('uid', named?.uid ?? '') +
    field('apiGroup', group) +
    field('apiVersion', version) +
    field('resourceVersion', named?.resourceVersion ?? '') +
    field('subresource', subresource)
  return `,"objectRef":{${fields.slice(1)}}`
}

const field = (name: string, value: string): string => (value === '' ? '' : `,"${name}":${printString(value)}`)

function printStatus({ code, status }: ResponseStatus): string {
  if (status === undefined) return `,"responseStatus":{"metadata":{},"code":${code}}`
  const { status: outcome, message = '', reason = '', details } = status
  const detailed = details === undefined ? '' : `,"details":${printOrdered(details)}`
  return `,"responseStatus":{"metadata":{}${field('status', outcome)}${field('message', message)}${field('reason', reason)}${detailed},"code":${code}}`
}

/** Lists are quoted twice, as upstream. */
function printLine({ auditId, user, source, info, uri, receivedTime }: EventFacts, stage: StageFacts): string {
  const { impersonated, response, named } = stage
  const namespace = info.kind === 'path' ? '' : info.namespace || (named?.namespace ?? '')
  const isKnown = user !== undefined && user.name !== ''
  const parts: readonly (readonly [string, string])[] = [
    ['id', auditId],
    ['stage', stage.stage],
    ['ip', source.ips[0] ?? '<unknown>'],
    ['method', info.verb],
    ['user', isKnown ? user.name : '<none>'],
    ['groups', isKnown && user.groups.length > 0 ? quoteAll(user.groups) : '<none>'],
    ['as', impersonated?.name ?? '<self>'],
    ['asgroups', impersonated === undefined ? '<lookup>' : quoteAll(impersonated.groups)],
    ['user-agent', source.userAgent],
    ['namespace', namespace || '<none>'],
    ['uri', uri],
    ['response', response === undefined ? '<deferred>' : `${response.code}`],
  ]
  const time = receivedTime.replace(/\.?0*Z$/, 'Z')
  return `${time} AUDIT: ${parts.map(([name, value]) => `${name}=${quote(value)}`).join(' ')}`
}

const quoteAll = (texts: readonly string[]): string => texts.map(quote).join(',')
