/**
 * Which form of an answer the client takes. Upstream decides in two steps, and so do we: its
 * router first looks whether any clause of Accept names a type that it has at all, then the parameters of each are weighed.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { notAcceptable, notAcceptableHere } from '../api/errors.ts'
import { type ApiRequest, elementsOf, firstHeader, parametersOf } from '../api/request.ts'

export const jsonType = 'application/json'
export const yamlType = 'application/yaml'
export const protobufType = 'application/vnd.kubernetes.protobuf'
export const cborType = 'application/cbor'
export const cborStreamType = 'application/cbor-seq'

/** How an answer is written. Indented JSON is for people at a terminal. */
export type Form = {
  readonly type: 'json' | 'yaml' | 'protobuf' | 'cbor'
  readonly isIndented: boolean
  /** Undefined: objects as they are. */
  readonly as?: Conversion
}

/** Objects as something else: rows of a table, or nothing but their metadata. Two versions that differ in their name only. */
export type Conversion = {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

const compactJson: Form = { type: 'json', isIndented: false }
const indentedJson: Form = { type: 'json', isIndented: true }

export type AskedHeaders = Pick<ApiRequest, 'headers' | 'takesCbor'>
type Asked = AskedHeaders & Pick<ApiRequest, 'query'>

type Registered = {
  readonly type: string
  readonly subtype: string
  readonly form: Form['type']
  readonly isStreamed: boolean
  readonly hasTable: boolean
}

/** What a server speaks, in its order: the representations that its router knows, and what each is. */
type Spoken = {
  readonly routed: readonly string[]
  readonly routedStreams: readonly string[]
  readonly registered: readonly Registered[]
}

const json = { type: 'application', subtype: 'json', form: 'json', isStreamed: true, hasTable: true } as const
const withoutCbor: Spoken = {
  routed: [jsonType, yamlType, protobufType],
  routedStreams: [`${jsonType};stream=watch`, `${protobufType};stream=watch`],
  registered: [
    json,
    { ...json, subtype: 'yaml', form: 'yaml', isStreamed: false },
    { ...json, subtype: 'vnd.kubernetes.protobuf', form: 'protobuf', hasTable: false },
  ],
}
const withCbor: Spoken = {
  routed: [...withoutCbor.routed, cborType],
  routedStreams: [...withoutCbor.routedStreams, cborStreamType],
  registered: [...withoutCbor.registered, { ...json, subtype: 'cbor', form: 'cbor', hasTable: false }],
}
export const spokenTo = ({ takesCbor }: AskedHeaders): Spoken => (takesCbor === true ? withCbor : withoutCbor)

export type Offer = {
  /** The router offers streams too, where a watch is possible. */
  readonly onCollection?: boolean
  /** The router offers plain text before all else, though who asks for nothing else is refused behind it. */
  readonly isText?: boolean
  /** Whether what is answered can be shown as rows: not so what can only be created. */
  readonly hasTable?: boolean
  /** Custom kinds have no protobuf but for their metadata, and a router that leaves all to the handler. */
  readonly isCustom?: boolean
  /** Fails for what upstream's handler refuses before it looks at Accept, and its router does not look at. */
  readonly refuseFirst?: () => void
}

/** Fails with NotAcceptable. */
export function negotiate(asked: Asked, offer: Offer = {}): Form {
  const { headers, query } = asked
  const { onCollection = false, isText = false, hasTable = true, isCustom = false } = offer
  const accept = firstHeader(headers, 'accept') ?? ''
  if (isPlainJson(accept)) return isIndented(query, headers) ? indentedJson : compactJson
  const spoken = spokenTo(asked)
  if (!isCustom) checkRoute(accept, [...(isText ? ['text/plain'] : []), ...routesOf(spoken, onCollection)])
  const form = choose(accept, { conversions: hasTable ? 'all' : 'no tables', isCustom, spoken })
  if (form === undefined) {
    offer.refuseFirst?.()
    throw notAcceptable(spoken.routed)
  }
  return !form.isIndented && isIndented(query, headers) ? { ...form, isIndented: true } : form
}

/** Of a watch, which is never indented. Fails with NotAcceptable, also for a form that cannot be streamed. */
export function negotiateStream(asked: AskedHeaders, { isCustom = false, hasTable = true }: Offer = {}): Form {
  const accept = firstHeader(asked.headers, 'accept') ?? ''
  if (isPlainJson(accept)) return compactJson
  const spoken = spokenTo(asked)
  if (!isCustom) checkRoute(accept, routesOf(spoken, true))
  const form = choose(accept, { conversions: hasTable ? 'all' : 'no tables', isCustom, spoken })
  if (form === undefined) throw notAcceptable(spoken.routed)
  if (form.type === 'yaml') throw notAcceptable(spoken.routedStreams)
  return form.isIndented ? { ...form, isIndented: false } : form
}

/** Of an error: it is never converted, and what nobody can read is told as indented JSON all the same. */
export function negotiateError(asked: Asked): Form {
  const { headers, query } = asked
  const accept = firstHeader(headers, 'accept') ?? ''
  const form = isPlainJson(accept) ? compactJson : choose(accept, { conversions: 'none', spoken: spokenTo(asked) })
  if (form === undefined) return indentedJson
  return form.isIndented || isIndented(query, headers) ? { type: form.type, isIndented: true } : form
}

const isPlainJson = (accept: string): boolean => accept === '' || accept === jsonType || accept === '*/*'

const routesOf = ({ routed, routedStreams }: Spoken, onCollection: boolean): readonly string[] =>
  onCollection ? [...routed, ...routedStreams] : routed

/** The router understands no wildcard but the whole one, and does not look at parameters. */
function checkRoute(accept: string, known: readonly string[]): void {
  const isKnown = elementsOf(accept).some((clause) => {
    const type = clause.split(';', 1)[0]?.trim() ?? ''
    return type === '*/*' || known.includes(type)
  })
  if (!isKnown) throw notAcceptableHere(known)
}

/** The type among those offered that the client likes best; undefined if it takes none of them. */
export function preferredType(accept: string, offered: readonly string[]): string | undefined {
  for (const clause of sortClauses(elementsOf(accept).map(parseClause))) {
    const found = offered.find((name) => {
      const [type = '', subtype = ''] = name.split('/')
      return matches(clause, type, subtype)
    })
    if (found !== undefined) return found
  }
  return undefined
}

type Clause = {
  readonly type: string
  readonly subtype: string
  readonly quality: number
  readonly parameters: ReadonlyMap<string, string>
}

type Wanted = {
  readonly conversions: 'all' | 'no tables' | 'none'
  readonly isCustom?: boolean
  readonly spoken: Spoken
}

/** The first clause that can be met decides. */
function choose(accept: string, { conversions, isCustom = false, spoken }: Wanted): Form | undefined {
  for (const clause of sortClauses(elementsOf(accept).map(parseClause))) {
    const { parameters } = clause
    const found = spoken.registered.find(({ type, subtype }) => matches(clause, type, subtype))
    if (found === undefined || !isMet(parameters, found.isStreamed)) continue
    const plain = { type: found.form, isIndented: parameters.get('pretty') === '1' }
    if (!conversionNames.some((name) => parameters.has(name))) {
      if (isCustom && found.form === 'protobuf') continue
      return plain
    }
    const as = conversionOf(parameters)
    const isOffered = as !== undefined && (as.kind !== 'Table' || (conversions === 'all' && found.hasTable))
    if (isOffered && conversions !== 'none') return { ...plain, as }
  }
  return undefined
}

const matches = (clause: Clause, type: string, subtype: string): boolean =>
  (clause.type === type && (clause.subtype === subtype || clause.subtype === '*')) ||
  (clause.type === '*' && clause.subtype === '*')

function isMet(parameters: ReadonlyMap<string, string>, isStreamed: boolean): boolean {
  const stream = parameters.get('stream')
  if (stream !== undefined && (stream !== 'watch' || !isStreamed)) return false
  const version = parameters.get('sv')
  return version === undefined || version === 'v1'
}

const conversionNames = ['as', 'g', 'v'] as const
const kinds = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const
const versions = ['v1', 'v1beta1'] as const

function conversionOf(parameters: ReadonlyMap<string, string>): Conversion | undefined {
  const kind = kinds.find((one) => one === parameters.get('as'))
  const version = versions.find((one) => one === parameters.get('v'))
  const isMeta = parameters.get('g') === 'meta.k8s.io'
  return kind === undefined || version === undefined || !isMeta ? undefined : { kind, version }
}

function parseClause(text: string): Clause {
  const [mediaType = '', ...rest] = parametersOf(text)
  const [type = '', subtype = ''] = mediaType.split('/')
  const parameters = new Map<string, string>()
  for (const parameter of rest) {
    const at = parameter.indexOf('=')
    if (at !== -1) parameters.set(parameter.slice(0, at).trim(), parameter.slice(at + 1).trim())
  }
  const quality = parameters.get('q')
  return { type, subtype, quality: quality === undefined ? 1 : Number(quality) || 0, parameters }
}

/** Upstream's order is no order (a comes before b, and b before a), so its way of sorting is part of the result. It takes the square of their number. */
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
