/**
 * Chooses the representation of a response by the Accept header. As in kube-apiserver, there are
 * two steps. The router checks whether any clause of the header names a known media type. Then the
 * parameters of each clause are evaluated.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { notAcceptable, notAcceptableHere } from '../../api/errors.ts'
import { type ApiRequest, elementsOf, firstHeader, parametersOf } from '../../api/request.ts'

export const jsonType = 'application/json'
export const yamlType = 'application/yaml'
export const protobufType = 'application/vnd.kubernetes.protobuf'
export const cborType = 'application/cbor'
export const cborStreamType = 'application/cbor-seq'

/** The encoding of a response. Indented JSON is for people who read it in a terminal. */
export type Form = {
  readonly type: 'json' | 'yaml' | 'protobuf' | 'cbor'
  readonly isIndented: boolean
  /** The form to which objects are converted. Undefined if they are not converted. */
  readonly as?: Conversion
}

/**
 * Conversion of objects to rows of a table, or to objects that contain only metadata. It has two
 * API versions, with different names but equal results.
 */
export type Conversion = {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

const compactJson: Form = { type: 'json', isIndented: false }
const indentedJson: Form = { type: 'json', isIndented: true }

export type NegotiatedHeaders = Pick<ApiRequest, 'headers' | 'takesCbor'>
type NegotiatedRequest = NegotiatedHeaders & Pick<ApiRequest, 'query'>

type RegisteredType = {
  readonly type: string
  readonly subtype: string
  readonly form: Form['type']
  readonly isStreamed: boolean
  readonly hasTable: boolean
}

/**
 * The media types of a server, with the preferred ones first. `routed` contains those that the
 * router accepts, and `registered` contains the representation for each type.
 */
type ServerMediaTypes = {
  readonly routed: readonly string[]
  readonly routedStreams: readonly string[]
  readonly registered: readonly RegisteredType[]
}

const json = {
  type: 'application',
  subtype: 'json',
  form: 'json',
  isStreamed: true,
  hasTable: true,
} as const
const withoutCbor: ServerMediaTypes = {
  routed: [jsonType, yamlType, protobufType],
  routedStreams: [`${jsonType};stream=watch`, `${protobufType};stream=watch`],
  registered: [
    json,
    { ...json, subtype: 'yaml', form: 'yaml', isStreamed: false },
    { ...json, subtype: 'vnd.kubernetes.protobuf', form: 'protobuf', hasTable: false },
  ],
}
const withCbor: ServerMediaTypes = {
  routed: [...withoutCbor.routed, cborType],
  routedStreams: [...withoutCbor.routedStreams, cborStreamType],
  registered: [
    ...withoutCbor.registered,
    { ...json, subtype: 'cbor', form: 'cbor', hasTable: false },
  ],
}
export const spokenTo = ({ takesCbor }: NegotiatedHeaders): ServerMediaTypes =>
  takesCbor === true ? withCbor : withoutCbor

export type Offer = {
  /** Whether the request path can be watched. If so, the router also accepts streaming types. */
  readonly onCollection?: boolean
  /**
   * Whether the router prefers plain text. Nevertheless, the handler rejects clients that accept
   * only plain text.
   */
  readonly isText?: boolean
  /**
   * Whether objects can be converted to a table. This is not possible for kinds that can only be
   * created, such as reviews.
   */
  readonly hasTable?: boolean
  /**
   * Whether the kind is custom. Objects of custom kinds can be encoded as protobuf only if they are
   * reduced to their metadata. For custom kinds, the router does not evaluate the Accept header.
   */
  readonly isCustom?: boolean
  /**
   * Called before a request is rejected because of its Accept header, unless the router rejects it.
   * Throws an error if kube-apiserver would reject the request for another reason first.
   */
  readonly refuseFirst?: () => void
}

/**
 * Returns the encoding of a response. Throws NotAcceptable if the client accepts none of the
 * offered types.
 */
export function negotiate(asked: NegotiatedRequest, offer: Offer = {}): Form {
  const { headers, query } = asked
  const { onCollection = false, isText = false, hasTable = true, isCustom = false } = offer
  const accept = firstHeader(headers, 'accept') ?? ''
  if (isPlainJson(accept)) return isIndented(query, headers) ? indentedJson : compactJson
  const spoken = spokenTo(asked)
  if (!isCustom)
    checkRoute(accept, [...(isText ? ['text/plain'] : []), ...routesOf(spoken, onCollection)])
  const form = choose(accept, { conversions: hasTable ? 'all' : 'no tables', isCustom, spoken })
  if (form === undefined) {
    offer.refuseFirst?.()
    throw notAcceptable(spoken.routed)
  }
  return !form.isIndented && isIndented(query, headers) ? { ...form, isIndented: true } : form
}

/**
 * Returns the encoding of a watch, which is never indented. Throws NotAcceptable if the client
 * accepts none of the offered types, or prefers a type that cannot be used for streams.
 */
export function negotiateStream(
  asked: NegotiatedHeaders,
  { isCustom = false, hasTable = true }: Offer = {},
): Form {
  const accept = firstHeader(asked.headers, 'accept') ?? ''
  if (isPlainJson(accept)) return compactJson
  const spoken = spokenTo(asked)
  if (!isCustom) checkRoute(accept, routesOf(spoken, true))
  const form = choose(accept, { conversions: hasTable ? 'all' : 'no tables', isCustom, spoken })
  if (form === undefined) throw notAcceptable(spoken.routed)
  if (form.type === 'yaml') throw notAcceptable(spoken.routedStreams)
  return form.isIndented ? { ...form, isIndented: false } : form
}

/**
 * Returns the encoding of an error, which is never converted. If the client accepts no known type,
 * it receives indented JSON.
 */
export function negotiateError(asked: NegotiatedRequest): Form & { readonly isAccepted: boolean } {
  const { headers, query } = asked
  const accept = firstHeader(headers, 'accept') ?? ''
  const form = isPlainJson(accept)
    ? compactJson
    : choose(accept, { conversions: 'none', spoken: spokenTo(asked) })
  if (form === undefined) return { ...indentedJson, isAccepted: false }
  return {
    type: form.type,
    isIndented: form.isIndented || isIndented(query, headers),
    isAccepted: true,
  }
}

const isPlainJson = (accept: string): boolean =>
  accept === '' || accept === jsonType || accept === '*/*'

const routesOf = (
  { routed, routedStreams }: ServerMediaTypes,
  onCollection: boolean,
): readonly string[] => (onCollection ? [...routed, ...routedStreams] : routed)

/**
 * Throws an error unless a clause of the header names a known type. As in kube-apiserver's router,
 * parameters are ignored, and the only wildcard is the one for all types and subtypes.
 */
function checkRoute(accept: string, known: readonly string[]): void {
  const isKnown = elementsOf(accept).some((clause) => {
    const type = clause.split(';', 1)[0]?.trim() ?? ''
    // Bounded: the server offers only a few media types
    return type === '*/*' || known.includes(type)
  })
  if (!isKnown) throw notAcceptableHere(known)
}

/**
 * Returns the offered type that the client prefers. Undefined if the client accepts none of them.
 */
export function preferredType(accept: string, offered: readonly string[]): string | undefined {
  for (const clause of sortClauses(elementsOf(accept).map(parseClause))) {
    // Bounded: the server offers only a few media types
    const found = offered.find((name) => {
      const [type = '', subtype = ''] = name.split('/')
      return matches(clause, type, subtype)
    })
    if (found !== undefined) return found
  }
  return undefined
}

/** Media types of the pages for people. All except text need a conversion to the page kind. */
export const pageTypes = [jsonType, yamlType, protobufType, 'text/plain'] as const

/**
 * Returns the media type of a page for people. A client gets a structured type if it asks for a
 * conversion to the kind of the page. Undefined if the client accepts no type.
 */
export function negotiatePage(
  { headers }: NegotiatedHeaders,
  kind: string,
): (typeof pageTypes)[number] | undefined {
  const accept = firstHeader(headers, 'accept') ?? ''
  if (accept.trim() === '') return 'text/plain'
  for (const clause of sortClauses(elementsOf(accept).map(parseClause))) {
    const { parameters } = clause
    if (parameters.has('sv') || parameters.has('stream')) continue
    const isPlain = !conversionNames.some((name) => parameters.has(name))
    const isPage =
      parameters.get('as') === kind &&
      parameters.get('g') === 'config.k8s.io' &&
      parameters.get('v') === 'v1alpha1'
    // Bounded: the server offers only a few media types
    const found = pageTypes.find((name) => {
      const [type = '', subtype = ''] = name.split('/')
      return matches(clause, type, subtype) && (name === 'text/plain' ? isPlain : isPage)
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

type NegotiationOptions = {
  readonly conversions: 'all' | 'no tables' | 'none'
  readonly isCustom?: boolean
  readonly spoken: ServerMediaTypes
}

/**
 * Returns the encoding for the first clause of the header that the server supports, or undefined if
 * it supports none.
 */
function choose(
  accept: string,
  { conversions, isCustom = false, spoken }: NegotiationOptions,
): Form | undefined {
  for (const clause of sortClauses(elementsOf(accept).map(parseClause))) {
    const { parameters } = clause
    // Bounded: the server offers only a few media types
    const found = spoken.registered.find(({ type, subtype }) => matches(clause, type, subtype))
    if (found === undefined || !isMet(parameters, found.isStreamed)) continue
    const plain = { type: found.form, isIndented: parameters.get('pretty') === '1' }
    if (!conversionNames.some((name) => parameters.has(name))) {
      if (isCustom && found.form === 'protobuf') continue
      return plain
    }
    const as = conversionOf(parameters)
    const isOffered =
      as !== undefined && (as.kind !== 'Table' || (conversions === 'all' && found.hasTable))
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

/**
 * Sorts the clauses of the header as kube-apiserver does. Its comparison is not consistent: a can
 * come before b, and b before a. So the result depends on kube-apiserver's sorting algorithm, which
 * is used here and takes quadratic time.
 */
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
  a.quality > b.quality ||
  (a.type !== '*' && b.type === '*') ||
  (a.subtype !== '*' && b.subtype === '*')

const trueTexts: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const humanAgents = ['curl', 'Wget', 'Mozilla/5.0'] as const

function isIndented(query: URLSearchParams, headers: IncomingHttpHeaders): boolean {
  const asked = query.size === 0 ? '' : (query.get('pretty') ?? '')
  if (asked !== '') return trueTexts.has(asked)
  const agent = headers['user-agent'] ?? ''
  return humanAgents.some((name) => agent.startsWith(name))
}
