/**
 * Serializes the server's documents in the format that the client accepts: JSON (with optional
 * indentation), YAML, protobuf or CBOR.
 */
import { notAcceptable, type Status } from '../../api/errors.ts'
import { fieldsOf, type Json } from '../../api/object.ts'
import { type ApiRequest, elementsOf, firstHeader } from '../../api/request.ts'
import { encodeCbor } from '../../objects/codec/cbor/encode.ts'
import { indentJson } from '../../objects/codec/indent.ts'
import { printOrdered, printQuickly } from '../../objects/codec/json.ts'
import {
  cborType,
  type Form,
  jsonType,
  negotiate,
  negotiateError,
  protobufType,
  yamlType,
} from '../../objects/codec/negotiate.ts'
import { encodeObject } from '../../objects/codec/protobuf/envelope.ts'
import { jsonToYaml } from '../../objects/codec/yaml-print.ts'
import { defaultMinor } from '../../api/releases.ts'
import { findType } from '../../registry/types.ts'

export type EncodedDocument = { readonly type: string; readonly body: Buffer }

type Request = Pick<ApiRequest, 'headers' | 'query' | 'takesCbor'>

/** The media types that kube-apiserver offers for its documents. */
const offered = [jsonType, yamlType, protobufType]

/**
 * Serializes a document. kube-apiserver has two routers, which reject media types with different
 * errors. `isAggregator` selects the error of the aggregator.
 */
export function printDocument(
  document: Json,
  request: Request,
  { isAggregator = false } = {},
): EncodedDocument {
  // If all clauses of the Accept header request a conversion (`as=Table`), the request is rejected.
  // Otherwise, clauses with a conversion are ignored.
  const clauses = elementsOf(firstHeader(request.headers, 'accept') ?? '')
  const plain = clauses.filter((clause) => !isConversion(clause))
  const isKnown = plain.some((clause) => clause.trim() === '' || knownType.test(clause.trim()))
  if (!isKnown && (isAggregator || clauses.some(isKnownConversion))) throw notAcceptable(offered)
  const accept = (plain.length === 0 ? clauses : plain).join(',')
  return print(
    document,
    negotiate({ query: request.query, headers: { ...request.headers, accept } }),
  )
}

const isConversion = (clause: string): boolean => /;\s*(as|g|v)=/.test(clause)
const isKnownConversion = (clause: string): boolean =>
  isConversion(clause) && knownType.test(clause.trim())
const knownType = /^(\*\/\*|application\/(\*|json|yaml|vnd\.kubernetes\.protobuf))\s*(;|$)/

/**
 * Serializes an error. Every error needs a response, so a client that accepts none of the supported
 * media types gets JSON.
 */
export function printError(
  status: Status,
  request: Request,
): EncodedDocument & { readonly isAccepted: boolean } {
  const form = negotiateError(request)
  return { ...print(status, form), isAccepted: form.isAccepted }
}

/**
 * Serializes an error like kube-apiserver's outermost filter: JSON without a kind, sent as plain
 * text.
 */
export function printUntyped({
  kind: _kind,
  apiVersion: _apiVersion,
  ...fields
}: Status): ReturnType<typeof printError> {
  return {
    type: 'text/plain; charset=utf-8',
    body: Buffer.from(`${printOrdered(fields)}\n`),
    isAccepted: true,
  }
}

function print(document: Json, { type, isIndented }: Form): EncodedDocument {
  if (type === 'yaml') return { type: yamlType, body: Buffer.from(jsonToYaml(document)) }
  if (type === 'cbor') return { type: cborType, body: encodeCbor(document) }
  if (type === 'protobuf') {
    const { kind, apiVersion } = fieldsOf(document)
    const typeMeta = { kind: textOf(kind, ''), apiVersion: textOf(apiVersion, 'v1') }
    const struct = findType('meta/v1', typeMeta.kind, defaultMinor)
    if (struct !== undefined) {
      return {
        type: protobufType,
        body: encodeObject({ ...fieldsOf(document), ...typeMeta }, struct),
      }
    }
  }
  const text = printQuickly(document)
  return { type: jsonType, body: Buffer.from(isIndented ? indentJson(text) : `${text}\n`) }
}

const textOf = (value: Json | undefined, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise
