/** The body of an apply: CBOR, or YAML by its media type, which most clients fill with JSON. */
import { badRequest } from '../api/errors.ts'
import { JsonScanner, JsonSyntaxError } from '../api/json-scanner.ts'
import { type Fields, isFields, type Json } from '../api/object.ts'
import { CborError, cborToJson } from '../codec/cbor/to-json.ts'
import { readAny } from '../api/json-value.ts'
import { jsonTypeOf } from '../codec/json.ts'
import { checkMembers, hasTooManyMembers } from '../codec/member-count.ts'
import { YamlError } from '../codec/yaml-error.ts'
import { hasUnprintable } from '../codec/yaml-text.ts'
import { BRACE_OPEN } from '../lib/ascii.ts'
import type { WriteAccess } from './access.ts'

export type GivenBody = { readonly form: 'apply' | 'apply-cbor'; readonly body: Buffer }

export type AppliedBody = {
  readonly value: Fields
  /** The length of the text that the value was read from. */
  readonly textBytes: number
  /** Repeated keys, with the messages of the YAML parser. */
  readonly duplicates: readonly string[]
}

/** Fails with a BadRequest. */
export async function readApplied(
  { form, body }: GivenBody,
  access: Pick<WriteAccess, 'convertYaml'>,
): Promise<AppliedBody> {
  if (form === 'apply-cbor') return { ...readCbor(body), duplicates: [] }
  const plain = readPlain(body)
  if (plain !== undefined) return { value: plain, textBytes: body.length, duplicates: [] }
  try {
    const { json, duplicates } = await access.convertYaml(body)
    checkMembers(json)
    return { value: objectOf(readAny(new JsonScanner(json.toString('utf8')))), textBytes: json.length, duplicates }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`, error)
  }
}

/** Upstream's errors mention YAML here, too. */
function readCbor(body: Buffer): Pick<AppliedBody, 'value' | 'textBytes'> {
  try {
    const json = cborToJson(body)
    checkMembers(Buffer.from(json))
    const value = readAny(new JsonScanner(json))
    if (isFields(value)) return { value, textBytes: json.length }
    throw new CborError(`cbor: cannot unmarshal ${jsonTypeOf(value)} into Go value of type map[string]interface {}`)
  } catch (error) {
    throw error instanceof CborError ? badRequest(`error decoding YAML: ${error.message}`, error) : error
  }
}

function objectOf(value: Json): Fields {
  if (value === null) return {}
  if (isFields(value)) return value
  const why = `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type map[string]interface {}`
  throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`)
}

/** Reads JSON without repeated keys and control characters, which is the same in YAML. Undefined: the YAML parser has to read the body. */
function readPlain(body: Buffer): Fields | undefined {
  if (body[0] !== BRACE_OPEN) return undefined
  // YAML may begin with a brace, too: its parser decides, and the members of the JSON that it makes are counted.
  if (hasTooManyMembers(body)) return undefined
  const text = body.toString('utf8')
  // JSON allows in strings what YAML allows nowhere.
  if (hasUnprintable(text)) return undefined
  const scanner = new JsonScanner(text)
  let isRepeated = false
  try {
    const value = readAny(scanner, 0, () => {
      isRepeated = true
    })
    scanner.end()
    return isRepeated || !isFields(value) ? undefined : value
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}
