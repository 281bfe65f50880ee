/**
 * Which form of an answer the client takes, and which form a body has. Upstream decides in two steps, and so do we: its
 * router first looks whether any clause of Accept names a type that it has at all, then the parameters of each are weighed.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { type ApiError, notAcceptable, notAcceptableHere, unsupportedMediaType } from '../api/errors.ts'
import { firstHeader } from '../api/request.ts'

export const jsonType = 'application/json'
export const yamlType = 'application/yaml'
const protobufType = 'application/vnd.kubernetes.protobuf'

/** How an answer is printed. Indented JSON is for people at a terminal. */
export type Form = {
  readonly type: 'json' | 'yaml'
  readonly isIndented: boolean
  /** The client wants a form of objects that there is not yet: what it gets instead of one. Other errors come first. */
  readonly refusal?: ApiError
}

export const compactJson: Form = { type: 'json', isIndented: false }
export const indentedJson: Form = { type: 'json', isIndented: true }

type Asked = { readonly headers: IncomingHttpHeaders; readonly query: URLSearchParams }

/** The representations that the router knows, in its order. */
const routed: readonly string[] = [jsonType, yamlType, protobufType]
const routedStreams: readonly string[] = [`${jsonType};stream=watch`, `${protobufType};stream=watch`]
/** What there is so far. */
const registered = [
  { type: 'application', subtype: 'json', form: 'json', isStreamed: true },
  { type: 'application', subtype: 'yaml', form: 'yaml', isStreamed: false },
] as const

/**
 * Fails with NotAcceptable. `onCollection`: the router offers streams too, where a watch is possible. `isRead`: nothing
 * will be written, so a refusal of a conversion can wait until there is something to convert.
 */
export function negotiate({ headers, query }: Asked, { onCollection = false, isRead = false } = {}): Form {
  const accept = firstHeader(headers, 'accept') ?? ''
  if (isPlainJson(accept)) return isIndented(query, headers) ? indentedJson : compactJson
  checkRoute(accept, onCollection)
  const form = choose(accept, { isStream: false })
  if (form !== undefined) return { type: form.type, isIndented: form.isIndented || isIndented(query, headers) }
  const refusal = notAcceptable(offered(accept))
  if (isRead && asksConversion(accept)) return { ...compactJson, refusal }
  throw refusal
}

/** Of a watch, which is never indented. Fails with NotAcceptable, also for a form that cannot be streamed. */
export function negotiateStream({ headers }: Pick<Asked, 'headers'>): Form {
  const accept = firstHeader(headers, 'accept') ?? ''
  if (isPlainJson(accept)) return compactJson
  checkRoute(accept, true)
  if (choose(accept, { isStream: false })?.type === 'yaml') throw notAcceptable(routedStreams)
  if (choose(accept, { isStream: true }) !== undefined) return compactJson
  const refusal = notAcceptable(offered(accept))
  if (asksConversion(accept)) return { ...compactJson, refusal }
  throw refusal
}

/** Of an error: conversions do not count, and what nobody can read is told as indented JSON all the same. */
export function negotiateError({ headers, query }: Asked): Form {
  const accept = firstHeader(headers, 'accept') ?? ''
  const form = isPlainJson(accept) ? compactJson : choose(accept, { isStream: false })
  if (form === undefined) return indentedJson
  return form.isIndented || isIndented(query, headers) ? { type: form.type, isIndented: true } : form
}

/** Which form a body has. None at all is JSON. */
export function bodyForm(headers: IncomingHttpHeaders): 'json' | 'yaml' {
  const contentType = firstHeader(headers, 'content-type') ?? ''
  if (contentType === '' || contentType === jsonType) return 'json'
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim())
  const isReadable = parameters.every((parameter) => parameter === '' || /^[^\s=,]+\s*=\s*[^,]+$/.test(parameter))
  if (isReadable && type.toLowerCase() === jsonType) return 'json'
  if (isReadable && type.toLowerCase() === yamlType) return 'yaml'
  throw unsupportedMediaType([jsonType, yamlType, protobufType])
}

const conversions: readonly (string | undefined)[] = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']
const conversionVersions: readonly (string | undefined)[] = ['v1', 'v1beta1']

/** Whether a clause asks for one of upstream's other forms of objects, and rightly so. */
function asksConversion(accept: string): boolean {
  return accept.split(',').some((text) => {
    const { type, subtype, parameters } = parseClause(text)
    const isText = type === 'application' && (subtype === 'json' || subtype === 'yaml')
    const isKnown = conversions.includes(parameters.get('as')) && conversionVersions.includes(parameters.get('v'))
    return isText && isKnown && parameters.get('g') === 'meta.k8s.io'
  })
}

/** Upstream's list, but nobody who asks for protobuf itself is told that there is some. */
function offered(accept: string): readonly string[] {
  const asksProtobuf = accept.split(',').some((clause) => clause.trim() === protobufType)
  return asksProtobuf ? [jsonType, yamlType] : routed
}

const isPlainJson = (accept: string): boolean => accept === '' || accept === jsonType || accept === '*/*'

/** The router understands no wildcard but the whole one, and does not look at parameters. */
function checkRoute(accept: string, onCollection: boolean): void {
  const isKnown = accept.split(',').some((clause) => {
    const [type = ''] = clause.split(';')
    return type.trim() === '*/*' || routed.includes(type.trim())
  })
  if (!isKnown) throw notAcceptableHere(onCollection ? [...routed, ...routedStreams] : routed)
}

type Clause = {
  readonly type: string
  readonly subtype: string
  readonly quality: number
  readonly parameters: ReadonlyMap<string, string>
}

type Wanted = { readonly isStream: boolean }

/** The first clause that can be met decides. */
function choose(accept: string, wanted: Wanted): Form | undefined {
  for (const clause of sortClauses(accept.split(',').map(parseClause))) {
    const found = registered.find(({ type, subtype, isStreamed }) => {
      if (!matches(clause, type, subtype)) return false
      return !wanted.isStream || isStreamed
    })
    if (found === undefined || !isMet(clause.parameters, found.isStreamed)) continue
    return { type: found.form, isIndented: clause.parameters.get('pretty') === '1' }
  }
  return undefined
}

const matches = (clause: Clause, type: string, subtype: string): boolean =>
  (clause.type === type && (clause.subtype === subtype || clause.subtype === '*')) ||
  (clause.type === '*' && clause.subtype === '*')

/** A conversion (`as=Table`) is passed over: there is none yet, and clients name the plain form after it. */
function isMet(parameters: ReadonlyMap<string, string>, isStreamed: boolean): boolean {
  if (parameters.has('as') || parameters.has('g') || parameters.has('v')) return false
  const stream = parameters.get('stream')
  if (stream !== undefined && (stream !== 'watch' || !isStreamed)) return false
  const version = parameters.get('sv')
  return version === undefined || version === 'v1'
}

function parseClause(text: string): Clause {
  const [mediaType = '', ...rest] = text.split(';').map((part) => part.trim())
  const [type = '', subtype = ''] = mediaType.split('/')
  const parameters = new Map<string, string>()
  for (const parameter of rest) {
    const at = parameter.indexOf('=')
    if (at !== -1) parameters.set(parameter.slice(0, at).trim(), parameter.slice(at + 1).trim())
  }
  const quality = parameters.get('q')
  return { type, subtype, quality: quality === undefined ? 1 : Number(quality) || 0, parameters }
}

/** Upstream's order is no order (a comes before b, and b before a), so its way of sorting is part of the result. */
function sortClauses(clauses: Clause[]): readonly Clause[] {
  for (let i = 1; i < clauses.length; i++) {
    for (let j = i; j > 0; j--) {
      const one = clauses[j - 1]
      const next = clauses[j]
      if (one === undefined || next === undefined || !isBefore(next, one)) break
      clauses[j - 1] = next
      clauses[j] = one
    }
  }
  return clauses
}

const isBefore = (a: Clause, b: Clause): boolean =>
  a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*')

const trueTexts: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const humanAgents = ['curl', 'Wget', 'Mozilla/5.0'] as const

function isIndented(query: URLSearchParams, headers: IncomingHttpHeaders): boolean {
  const asked = query.size === 0 ? '' : (query.get('pretty') ?? '')
  if (asked !== '') return trueTexts.has(asked)
  const agent = headers['user-agent'] ?? ''
  return humanAgents.some((name) => agent.startsWith(name))
}
