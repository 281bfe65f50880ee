/** An audit event, audit.k8s.io/v1, printed: as JSON with the fields in upstream's order, and as one line of text. */
import type { RequestInfo } from '../api/context.ts'
import type { Status } from '../api/errors.ts'
import { quote } from '../api/quote.ts'
import type { User } from '../api/user.ts'
import { printOrdered, printString, sortedKeys } from '../codec/json.ts'
import type { AuditLevel, AuditStage } from '../config/files/audit-policy.ts'

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
  readonly verb: string
  /** Undefined if authentication failed. */
  readonly user: User | undefined
  readonly sourceIps: readonly string[]
  readonly userAgent: string
  readonly info: RequestInfo
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
  readonly receivedTime: string
  readonly stageTime: string
  /** Undefined: none. */
  readonly annotations: { readonly [key: string]: string } | undefined
}

/** Prints the events of one request. */
export class EventPrinter {
  readonly #facts: EventFacts
  readonly #head: string
  readonly #middle: string
  readonly #source: string

  constructor(facts: EventFacts) {
    const { level, auditId, uri, verb, user, sourceIps, userAgent } = facts
    this.#facts = facts
    this.#head = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}","auditID":${printString(auditId)},"stage":"`
    this.#middle = `","requestURI":${printString(uri)},"verb":"${verb}","user":${user === undefined ? '{}' : printUser(user)}`
    const ips = sourceIps.length === 0 ? '' : `,"sourceIPs":["${sourceIps.join('","')}"]`
    this.#source = `${ips}${userAgent === '' ? '' : `,"userAgent":${printString(userAgent)}`}`
  }

  print(stage: StageFacts): AuditEvent {
    return {
      level: this.#facts.level,
      json: this.#json(stage, stage.isTruncated),
      truncated: () => this.#json(stage, true),
      line: () => printLine(this.#facts, stage),
    }
  }

  #json(facts: StageFacts, isTruncated: boolean): string {
    const { stage, impersonated, response, requestObject, responseObject } = facts
    const as = impersonated === undefined ? '' : `,"impersonatedUser":${printUser(impersonated)}`
    const reference = printReference(this.#facts.info, facts.named)
    const status = response === undefined ? '' : `,"responseStatus":${printStatus(response)}`
    const asked = isTruncated || requestObject === undefined ? '' : `,"requestObject":${requestObject}`
    const shown = isTruncated || responseObject === undefined ? '' : `,"responseObject":${responseObject}`
    const times = `,"requestReceivedTimestamp":"${facts.receivedTime}","stageTimestamp":"${facts.stageTime}"`
    const annotations = printAnnotations(isTruncated ? { ...facts.annotations, ...truncatedMark } : facts.annotations)
    return `${this.#head}${stage}${this.#middle}${as}${this.#source}${reference}${status}${asked}${shown}${times}${annotations}}`
  }
}

const truncatedMark = { 'audit.k8s.io/truncated': 'true' }

const printUser = ({ name, uid, groups, extra }: User): string => {
  const parts: string[] = []
  if (name !== '') parts.push(`"username":${printString(name)}`)
  if (uid !== '') parts.push(`"uid":${printString(uid)}`)
  if (groups.length > 0) parts.push(`"groups":[${groups.map(printString).join(',')}]`)
  if (extra !== undefined && Object.keys(extra).length > 0) parts.push(`"extra":${printSortedMap(extra)}`)
  return `{${parts.join(',')}}`
}

const printSortedMap = (map: { readonly [key: string]: readonly string[] }): string =>
  `{${sortedKeys(map)
    .map((key) => `${printString(key)}:[${(map[key] ?? []).map(printString).join(',')}]`)
    .join(',')}}`

function printReference(info: RequestInfo, named: Named | undefined): string {
  // The body of a write names an object even where the path does not look like one of a resource.
  if (info.kind === 'path') return ''
  const { plural, group, version, subresource } = info
  const namespace = info.namespace || (named?.namespace ?? '')
  const name = info.name || (named?.name ?? '')
  const fields =
    field('resource', plural) +
    field('namespace', namespace) +
    field('name', name) +
    field('uid', named?.uid ?? '') +
    field('apiGroup', group) +
    field('apiVersion', version) +
    field('resourceVersion', named?.resourceVersion ?? '') +
    field('subresource', subresource)
  return `,"objectRef":{${fields.slice(1)}}`
}

const field = (name: string, value: string): string => (value === '' ? '' : `,"${name}":${printString(value)}`)

function printStatus({ code, status }: ResponseStatus): string {
  if (status === undefined) return `{"metadata":{},"code":${code}}`
  const { status: outcome, message = '', reason = '', details } = status
  const detailed = details === undefined ? '' : `,"details":${printOrdered(details)}`
  return `{"metadata":{}${field('status', outcome)}${field('message', message)}${field('reason', reason)}${detailed},"code":${code}}`
}

function printAnnotations(annotations: StageFacts['annotations']): string {
  if (annotations === undefined) return ''
  let text = ''
  for (const key of sortedKeys(annotations)) text += `,${printString(key)}:${printString(annotations[key] ?? '')}`
  return `,"annotations":{${text.slice(1)}}`
}

/** Lists are quoted twice, and the response is not escaped, as upstream. */
function printLine({ auditId, verb, user, sourceIps, userAgent, info, uri }: EventFacts, stage: StageFacts): string {
  const { impersonated, response, named } = stage
  const namespace = info.kind === 'path' ? '' : info.namespace || (named?.namespace ?? '')
  const parts: readonly (readonly [string, string])[] = [
    ['id', auditId],
    ['stage', stage.stage],
    ['ip', sourceIps[0] ?? '<unknown>'],
    ['method', verb],
    ['user', user === undefined || user.name === '' ? '<none>' : user.name],
    ['groups', user === undefined || user.name === '' || user.groups.length === 0 ? '<none>' : quoteAll(user.groups)],
    ['as', impersonated?.name ?? '<self>'],
    ['asgroups', impersonated === undefined ? '<lookup>' : quoteAll(impersonated.groups)],
    ['user-agent', userAgent],
    ['namespace', namespace || '<none>'],
    ['uri', uri],
    ['response', response === undefined ? '<deferred>' : `${response.code}`],
  ]
  const time = stage.receivedTime.replace(/\.?0*Z$/, 'Z')
  return `${time} AUDIT: ${parts.map(([name, value]) => `${name}=${quote(value)}`).join(' ')}`
}

const quoteAll = (texts: readonly string[]): string => texts.map(quote).join(',')
