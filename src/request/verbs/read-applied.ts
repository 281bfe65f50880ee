/**
 * Reads the body of an apply. Depending on the media type, the body is CBOR or YAML. Most clients
 * send JSON, which is parsed as YAML.
 */
import { badRequest } from '../../api/errors.ts'
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { CborError, cborToJson } from '../../objects/codec/cbor/to-json.ts'
import { readAny } from '../../api/json-value.ts'
import { jsonTypeOf } from '../../objects/codec/json.ts'
import { checkMembers, hasTooManyMembers } from '../../objects/codec/member-count.ts'
import { YamlError } from '../../objects/codec/yaml-error.ts'
import { hasUnprintable } from '../../objects/codec/yaml-text.ts'
import { BRACE_OPEN } from '../../lib/bytes/ascii.ts'
import { once } from '../../lib/scheduling/parts.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { WriteAccess } from './access.ts'
import { holdValues } from './hold-values.ts'

export type ApplyPayload = { readonly form: 'apply' | 'apply-cbor'; readonly body: Buffer }

export type AppliedBody = {
  readonly value: Fields
  /** Length of the string from which the value was read. */
  readonly textBytes: number
  /** Errors for repeated keys, with the messages of the YAML parser. */
  readonly duplicates: readonly string[]
}

/** Decodes the applied configuration. Fails with a BadRequest error if it cannot be decoded. */
export async function readApplied(
  { form, body }: ApplyPayload,
  access: Pick<WriteAccess, 'convertYaml'>,
  request: ResourceRequest,
): Promise<AppliedBody> {
  const { context } = request
  if (form === 'apply-cbor') return { ...(await readCbor(body, request)), duplicates: [] }
  const plain = context.isLarge ? await context.inParts(() => readPlain(body)) : readPlain(body)
  if (plain !== undefined) return { value: plain, textBytes: body.length, duplicates: [] }
  try {
    const { json, duplicates } = await access.convertYaml(body)
    context.recordText(json.length)
    if (context.isLarge) await holdValues(request, json)
    const read = (): Fields =>
      objectOf(readAny(new JsonScanner(once('text of applied JSON', () => textOf(json)))))
    const value = context.isLarge ? await context.inParts(read) : read()
    return { value, textBytes: json.length, duplicates }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`, error)
  }
}

function textOf(json: Buffer): string {
  checkMembers(json)
  return json.toString('utf8')
}

/** Decodes CBOR. As in kube-apiserver, the error messages mention YAML. */
async function readCbor(
  body: Buffer,
  request: ResourceRequest,
): Promise<Pick<AppliedBody, 'value' | 'textBytes'>> {
  const { context } = request
  try {
    const json = cborToJson(body)
    const bytes = Buffer.from(json)
    context.recordText(bytes.length)
    if (context.isLarge) {
      await context.inParts(() => checkMembers(bytes))
      await holdValues(request, bytes)
    }
    const read = (): Json => readAny(new JsonScanner(json))
    const value = context.isLarge ? await context.inParts(read) : read()
    if (isFields(value)) return { value, textBytes: json.length }
    throw new CborError(
      `cbor: cannot unmarshal ${jsonTypeOf(value)} into Go value of type map[string]interface {}`,
    )
  } catch (error) {
    throw error instanceof CborError
      ? badRequest(`error decoding YAML: ${error.message}`, error)
      : error
  }
}

function objectOf(value: Json): Fields {
  if (value === null) return {}
  if (isFields(value)) return value
  const why = `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type map[string]interface {}`
  throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`)
}

/**
 * Reads JSON that has the same meaning in YAML, because it has no repeated keys and no unprintable
 * characters. Returns undefined for any other body, which the YAML parser must read.
 */
function readPlain(body: Buffer): Fields | undefined {
  if (body[0] !== BRACE_OPEN) return undefined
  const text = once('text of applied body', () => plainText(body))
  if (text === undefined) return undefined
  const scanner = new JsonScanner(text)
  const repeated = once('repeated keys of applied body', () => ({ isSeen: false }))
  try {
    const value = readAny(scanner, 0, () => {
      repeated.isSeen = true
    })
    scanner.end()
    return repeated.isSeen || !isFields(value) ? undefined : value
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

/**
 * Returns the body as a string. Returns undefined if the body might have a different meaning in
 * JSON and in YAML.
 */
function plainText(body: Buffer): string | undefined {
  // The body might be YAML that begins with a brace. In that case, the YAML parser reads the body,
  // and the members of the resulting JSON are counted.
  if (hasTooManyMembers(body)) return undefined
  const text = body.toString('utf8')
  // JSON strings can contain characters that YAML does not allow.
  return hasUnprintable(text) ? undefined : text
}
