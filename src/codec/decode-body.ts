/** The body of a create or an update to an object of the kind that the path names. */
import { badRequest } from '../api/errors.ts'
import { fieldsOf, isFields, type Json, type KubeObject } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import type { Struct } from '../api/shape.ts'
import { checkShape, jsonTypeOf, prune } from './shape.ts'
import { parseJson } from './json.ts'

export type Expected = {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly shape: Struct
}

const goTypeOfHead =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/** kind and apiVersion may be left out: the path has them. Fails with a BadRequest on anything that does not fit. */
export function decodeBody(bytes: Buffer, expected: Expected): KubeObject {
  const value = parseBody(bytes, expected) ?? {}
  const wantedVersion = expected.group === '' ? expected.version : `${expected.group}/${expected.version}`
  if (!isFields(value)) {
    const fault = `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${goTypeOfHead}`
    throw unrecognized(fault, bytes, expected)
  }
  for (const name of ['apiVersion', 'kind'] as const) {
    const given = value[name] ?? ''
    if (typeof given === 'string') continue
    const fault = `json: cannot unmarshal ${jsonTypeOf(given)} into Go struct field .${name} of type string`
    throw unrecognized(fault, bytes, expected)
  }
  const kind = nonEmpty(value['kind']) ?? expected.kind
  const apiVersion = nonEmpty(value['apiVersion']) ?? wantedVersion
  const refuse = (why: string): Error =>
    badRequest(`${kind} in version ${quote(versionOf(apiVersion))} cannot be handled as a ${expected.kind}: ${why}`)
  if (kind !== expected.kind || apiVersion !== wantedVersion) {
    const scheme = 'pkg/api/legacyscheme/scheme.go:30'
    throw refuse(`no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme ${quote(scheme)}`)
  }
  const fault = checkShape(value, expected.shape)
  if (fault !== undefined) throw refuse(fault)
  const known = prune(value, expected.shape)
  return { ...known, kind, apiVersion, metadata: fieldsOf(known['metadata']) }
}

function parseBody(bytes: Buffer, expected: Expected): Json {
  try {
    return parseJson(bytes)
  } catch (error) {
    throw unrecognized(syntaxFault(error), bytes, expected)
  }
}

const unrecognized = (why: string, bytes: Buffer, { kind }: Expected): Error =>
  badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${why} (${summary(bytes)})`,
  )

/** What is wrong, nearly in Go's words: JSON.parse does not say in which state it was. */
function syntaxFault(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const character = /^Unexpected token '(.)/su.exec(text)?.[1]
  if (character !== undefined) return `invalid character '${character}' looking for beginning of value`
  return /end of JSON input/i.test(text) ? 'unexpected end of JSON input' : text
}

const SUMMARY_BYTES_MAX = 30

function summary(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>'
  const start = bytes.subarray(0, SUMMARY_BYTES_MAX)
  const shown = bytes[0] === 0x7b ? start.toString('utf8') : start.toString('hex')
  return bytes.length > SUMMARY_BYTES_MAX ? `${shown} ...` : shown
}

const nonEmpty = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1)
