/**
 * Decodes the body of a create or an update, or the result of a patch. The result is an object of
 * the kind to which the request path belongs. Errors have kube-apiserver's messages, and are
 * reported in the same order.
 */
import { cutText } from '../../lib/text/cut-text.ts'
import {
  badRequest,
  internalError,
  invalid,
  tooLargeToStore,
  tooManyMembers,
  unclassified,
} from '../../api/errors.ts'
import { invalidValue } from '../../api/field-fault.ts'
import { type Fields, fieldsOf, isFields, type Json, type KubeObject } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import type { ObjectSchema, ReadForm } from '../schema/object-schema.ts'
import type { Struct } from '../schema/schema.ts'
import { itemBytesMin, STORED_BYTES_MAX } from '../schema/stored-size.ts'
import { CborError, cborToJson } from './cbor/to-json.ts'
import { type Decoding, decodeStruct, type Target } from './decode.ts'
import {
  type LocatedHead,
  goTypeOfHead,
  type Head,
  parseFault,
  readHead,
  strictText,
} from './head.ts'
import { checkMembers, MEMBERS_MAX } from './member-count.ts'
import { withoutEmptyMetadata } from './object.ts'
import { JsonNumberError, readAny } from '../../api/json-value.ts'
import { isDivided, once } from '../../lib/scheduling/parts.ts'
import { jsonTypeOf } from './json.ts'
import { decodeObject, openEnvelope } from './protobuf/envelope.ts'
import {
  NotFiniteError,
  ProtobufError,
  type ReadLimits,
  TooManyEntriesError,
} from './protobuf/reader.ts'
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'

export type Expected = {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly shape: ObjectSchema
  /**
   * Other versions that are also accepted, because they have the same fields. An example is
   * `policy/v1beta1`.
   */
  readonly otherVersions?: readonly string[]
}

export type Body = {
  /** The body as JSON. Bodies in other encodings have already been converted. */
  readonly bytes: Buffer
  /** Duplicate keys in a YAML body, as reported by yaml.ts. */
  readonly yamlDuplicates?: readonly string[]
  /** The original body, if it was not JSON. */
  readonly sent?: Buffer
}

/** How unknown and duplicate fields are handled: ignored, reported as warnings, or rejected. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

export type DecodedBody = {
  /**
   * The decoded object. It has its defaults and the kind and apiVersion of the request path, unless
   * `refusal` is set.
   */
  readonly object: KubeObject
  /** Warnings for the client. Empty unless `fieldValidation` is Warn. */
  readonly warnings: readonly string[]
  /**
   * Why the object is rejected although it can be decoded: it does not belong to the request path.
   * The client still receives the warnings.
   */
  readonly refusal?: Error
}

/**
 * Decodes the body of a create or an update. Bodies of built-in kinds can omit kind and apiVersion,
 * because the request path determines them. Throws a BadRequest if the body is not valid for the
 * request path.
 */
export function decodeBody(
  body: Body,
  expected: Expected,
  fieldValidation: FieldValidation,
): DecodedBody {
  const { shape } = expected
  const {
    value,
    fault,
    strictFaults: read,
    head,
  } = once('read body', () => readBody(body, expected))
  const isStrict = fieldValidation !== 'Ignore'
  const other =
    shape.custom === undefined
      ? once('kind of body', () => kindFault(head, () => body.bytes.toString('utf8'), expected))
      : undefined
  if (other?.what === 'version')
    return otherVersionBody(body, expected, { head, other, fieldValidation })
  // The body has another kind than the request path. Decode it as its own kind first, because
  // errors in its fields are reported before the wrong kind.
  const unreadable =
    other?.what === 'kind' &&
    other.struct &&
    decodeStruct(body.bytes.toString('utf8'), other.struct).fault
  if (unreadable) throw refusing(head, expected)(unreadable)
  const refuse = once('refusal of body', () =>
    shape.custom === undefined
      ? checkKind(head, body, expected)
      : namedKind(head, body, expected, isStrict),
  )
  if (fault !== undefined) throw refuse(fault)
  const named = asNamed(value, expected)
  const refusal =
    shape.custom === undefined ? undefined : otherCustomKind(head, expected, nameIn(value))
  // Prune only objects of the expected kind, because `shape` contains no schema for another kind.
  const { object, strictFaults } =
    refusal === undefined
      ? once('pruned body', () => pruned(named, read, shape))
      : { object: named, strictFaults: read }
  // Report a value that cannot be decoded before unknown fields.
  const why = refusal === undefined ? shape.refuse?.(object) : undefined
  if (why !== undefined) throw refuse(why)
  const faults = [...(body.yamlDuplicates ?? []), ...strictFaults]
  if (faults.length > 0 && fieldValidation === 'Strict') {
    throw refuse(`strict decoding error: ${strictText(body.yamlDuplicates ?? [], strictFaults)}`)
  }
  const warnings = fieldValidation === 'Warn' ? faults : []
  if (refusal !== undefined) return { object, warnings, refusal }
  return { object: shape.setDefaults(object), warnings }
}

/**
 * Changes kind, apiVersion and metadata of the given object. Copying an object with very many
 * fields would take tens of milliseconds.
 */
const asNamed = (decoded: Target, expected: Expected): KubeObject =>
  Object.assign(decoded, {
    kind: expected.kind,
    apiVersion: apiVersionOf(expected),
    metadata: fieldsOf(decoded['metadata']),
  })

type OtherVersion = {
  readonly head: Head
  readonly other: KindFault & { readonly what: 'version' }
  readonly fieldValidation: FieldValidation
}

/**
 * Decodes a body whose apiVersion is another version of the kind. The body is first decoded in its
 * own version, and then rejected.
 */
function otherVersionBody(
  body: Body,
  expected: Expected,
  { head, other, fieldValidation }: OtherVersion,
): DecodedBody {
  const refuse = refusing(head, expected)
  const read =
    other.struct === undefined ? undefined : decodeStruct(body.bytes.toString('utf8'), other.struct)
  if (read?.fault !== undefined) throw refuse(read.fault)
  const unknown = read?.strictFaults ?? []
  const faults = [...(body.yamlDuplicates ?? []), ...unknown]
  if (faults.length > 0 && fieldValidation === 'Strict') {
    throw refuse(`strict decoding error: ${strictText(body.yamlDuplicates ?? [], unknown)}`)
  }
  const object = { ...head, metadata: fieldsOf(read?.value['metadata']) }
  return {
    object,
    warnings: fieldValidation === 'Warn' ? faults : [],
    refusal: badRequest(other.why),
  }
}

type PruneResult = { readonly object: KubeObject; readonly strictFaults: readonly string[] }

function pruned(
  object: KubeObject,
  strictFaults: readonly string[],
  { custom }: ObjectSchema,
): PruneResult {
  if (custom === undefined) return { object, strictFaults }
  const { object: kept, faults } = custom.prune(object)
  return { object: withoutEmptyMetadata(kept), strictFaults: [...strictFaults, ...faults] }
}

/**
 * Decodes a protobuf body. Unknown fields are ignored. Large bodies are limited in several ways,
 * and are decoded in parts. `holdFields` is described in `ReadLimits`.
 */
export function decodeProtobufBody(
  bytes: Buffer,
  expected: Expected,
  holdFields: ReadLimits['holdFields'] = () => Infinity,
): KubeObject {
  const { shape, kind } = expected
  const body = { bytes }
  const envelope = orElse(
    (why) => unrecognized(why, body, expected),
    () => openEnvelope(bytes),
  )
  const refuse = checkKind(envelope, body, expected)
  const limits = isDivided() ? limitsOf(holdFields) : undefined
  const object = once('protobuf body', () =>
    orElse(refuse, () => decodeObject(envelope, shape.struct, limits)),
  )
  return shape.setDefaults({ ...object, kind, apiVersion: apiVersionOf(expected) })
}

function limitsOf(holdFields: ReadLimits['holdFields']): ReadLimits {
  let bytesMin = 0
  const takeItem: ReadLimits['takeItem'] = (item, of) => {
    bytesMin += itemBytesMin(item, of)
    if (bytesMin > STORED_BYTES_MAX) throw tooLargeToStore(STORED_BYTES_MAX)
  }
  return { entriesMax: MEMBERS_MAX, takeItem, holdFields }
}

/** Converts a CBOR body to JSON. */
export function cborBody(sent: Buffer, expected: Expected): Body {
  const refuse = (why: string): Error =>
    unrecognized(`unable to determine group/version/kind: ${why}`, { bytes: sent }, expected)
  return { bytes: Buffer.from(orElse(refuse, () => cborToJson(sent))), sent }
}

function orElse<T>(refuse: (why: string) => Error, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (error instanceof NotFiniteError) throw unclassified(error.message, error)
    if (error instanceof TooManyEntriesError) throw tooManyMembers(MEMBERS_MAX)
    throw error instanceof ProtobufError || error instanceof CborError
      ? refuse(error.message)
      : error
  }
}

function readBody(body: Body, expected: Expected): Decoding & { readonly head: Head } {
  const text = once('text of body', () => {
    checkMembers(body.bytes)
    return body.bytes.toString('utf8')
  })
  try {
    const scanner = new JsonScanner(text)
    if (scanner.peekType() !== 'object')
      return { ...readOther(scanner, body, expected), head: noHead }
    const decoding = decodeObjectText(text, expected)
    const { head, fault } = headOf(text, decoding)
    if (fault !== undefined) throw unrecognized(parseFault(fault), body, expected)
    return { ...decoding, head }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw unrecognized(parseFault(leadingFault(body.bytes) ?? error.message), body, expected)
  }
}

/**
 * Decodes the JSON of an object. A number that is too large is not a syntax error but an error in
 * the object. So it is reported after a wrong kind.
 */
function decodeObjectText(text: string, { shape }: Expected): Decoding {
  try {
    return decodeStruct(text, shape.struct)
  } catch (error) {
    if (error instanceof JsonNumberError)
      return { value: {}, fault: error.message, strictFaults: [] }
    throw error
  }
}

/**
 * Returns the error for a body whose first character is not ASCII. Like Go, the message contains
 * only its first byte.
 */
function leadingFault(bytes: Buffer): string | undefined {
  const [byte = 0] = bytes
  if (byte < 0x80) return undefined
  return `invalid character '${quote(String.fromCharCode(byte)).slice(1, -1)}' looking for beginning of value`
}

const noHead: Head = { kind: '', apiVersion: '' }
const textOf = (value: Json): string => (typeof value === 'string' ? value : '')

/**
 * Handles a body that is not a JSON object. Null counts as an empty object. All other values are
 * rejected.
 */
function readOther(scanner: JsonScanner, body: Body, expected: Expected): Decoding {
  const value = readAny(scanner)
  scanner.end()
  if (value === null) return { value: {}, fault: undefined, strictFaults: [] }
  const fault = `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${goTypeOfHead}`
  throw unrecognized(parseFault(fault), body, expected)
}

function headOf(text: string, { value, fault, strictFaults }: Decoding): LocatedHead {
  // After decoding without errors, kind and apiVersion are strings, and the letter case of their
  // keys is as expected.
  if (fault !== undefined || strictFaults.length > 0) return readHead(text)
  const { kind = '', apiVersion = '' } = value
  return { head: { kind: textOf(kind), apiVersion: textOf(apiVersion) }, fault: undefined }
}

/**
 * Throws an error if the body has another kind than expected. Otherwise returns a function that
 * creates the error for a body that cannot be decoded.
 */
function checkKind(head: Head, body: Body, expected: Expected): (why: string) => Error {
  const refuse = refusing(namedBy(head, expected), expected)
  const fault = kindFault(head, () => body.bytes.toString('utf8'), expected)
  if (fault === undefined) return refuse
  if (fault.what === 'form') throw unrecognized(fault.why, body, expected)
  throw fault.what === 'version' ? badRequest(fault.why) : refuse(fault.why)
}

const refusing =
  ({ kind, apiVersion }: Head, expected: Expected) =>
  (why: string): Error =>
    badRequest(
      `${cutText(kind)} in version ${quote(versionOf(apiVersion))} cannot be handled as a ${expected.kind}: ${why}`,
    )

const nameIn = (value: Fields): string => textOf(fieldsOf(value['metadata'])['name'] ?? null)

/**
 * Throws an error if a custom object has no kind. The message depends on whether kube-apiserver
 * uses its strict decoder. Otherwise returns a function that creates the error for a body that
 * cannot be decoded.
 */
function namedKind(
  head: Head,
  body: Body,
  expected: Expected,
  isStrict: boolean,
): (why: string) => Error {
  if (head.kind !== '') return refusing(head, expected)
  const why = `Object 'Kind' is missing in '${body.bytes.toString('utf8')}'`
  throw isStrict
    ? unrecognized(why, body, expected)
    : refusing(namedBy(head, expected), expected)(why)
}

/**
 * Returns an error if a custom object has another kind or version than expected. All other errors
 * in a body are reported before this one.
 */
function otherCustomKind(head: Head, expected: Expected, name: string): Error | undefined {
  const wanted = apiVersionOf(expected)
  if (head.apiVersion !== wanted) return badRequest(otherVersion(head.apiVersion, wanted))
  return head.kind === expected.kind ? undefined : otherType(head, expected, name)
}

/**
 * Returns the error for a custom object of another kind or version. The message contains the group
 * and kind of the body, and the name of the object.
 */
function otherType({ kind, apiVersion }: Head, expected: Expected, name: string): Error {
  const slash = apiVersion.indexOf('/')
  const faults =
    kind === expected.kind
      ? [invalidValue('apiVersion', apiVersion, `must be ${apiVersionOf(expected)}`)]
      : [invalidValue('kind', kind, `must be ${expected.kind}`)]
  return invalid({ group: apiVersion.slice(0, Math.max(slash, 0)), kind }, name, faults)
}

const otherVersion = (given: string, wanted: string): string =>
  `the API version in the data (${given}) does not match the expected API version (${wanted})`

/**
 * Returns the kind and apiVersion of a body, or those of the request path if the body omits them.
 * `/v1` is also valid, because the name of the core group is empty.
 */
function namedBy(head: Head, expected: Expected): Head {
  const kind = head.kind === '' ? expected.kind : head.kind
  const apiVersion =
    head.apiVersion === '' ? apiVersionOf(expected) : head.apiVersion.replace(/^\//, '')
  return { kind, apiVersion }
}

type KindFault =
  | { readonly what: 'form' | 'unknown'; readonly why: string }
  | { readonly what: 'kind'; readonly why: string; readonly struct: Struct | undefined }
  | { readonly what: 'version'; readonly why: string; readonly struct: Struct | undefined }

/**
 * Returns why an object does not belong to the request path, or undefined if it has the right kind
 * and version.
 */
function kindFault(head: Head, text: () => string, expected: Expected): KindFault | undefined {
  const wanted = apiVersionOf(expected)
  const { kind, apiVersion } = namedBy(head, expected)
  const isTaken = apiVersion === wanted || expected.otherVersions?.includes(apiVersion) === true
  if (kind === expected.kind && isTaken) return undefined
  if (apiVersion.split('/').length > 2) {
    return { what: 'form', why: `unexpected GroupVersion string: ${cutText(apiVersion)}` }
  }
  if (apiVersion.endsWith('/'))
    return {
      what: 'unknown',
      why: `Object 'apiVersion' is missing in '${cutText(text())}'`,
    }
  const { scheme } = expected.shape
  const known = scheme.find(apiVersion, kind)
  if (known === undefined) {
    const why = `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme ${quote(scheme.name)}`
    return { what: 'unknown', why }
  }
  const { goName, struct } = known
  const hubName = scheme.find(wanted, expected.kind)?.hubName ?? expected.kind
  if (known.hubName !== hubName) {
    return {
      what: 'kind',
      why: `converting (${goName}) to (${hubName}): unknown conversion`,
      struct,
    }
  }
  return { what: 'version', why: otherVersion(apiVersion, wanted), struct }
}

export type DecodeResult =
  | { readonly object: KubeObject; readonly strictFaults: readonly string[] }
  | { readonly fault: string }

export type PatchedBy = 'patch' | 'apply' | 'webhook'

/**
 * Decodes the result of a patch. If the patch changed the kind, the result is first decoded as the
 * new kind, as in kube-apiserver. If it has no apiVersion, no field is known, and the decoded
 * object is empty.
 */
export function decodePatched(
  text: string,
  expected: Expected,
  by: PatchedBy = 'patch',
): DecodeResult {
  const { kind, shape } = expected
  const scanner = new JsonScanner(text)
  const type = scanner.peekType()
  if (type !== 'object') {
    return {
      fault: parseFault(`json: cannot unmarshal ${type} into Go value of type ${goTypeOfHead}`),
    }
  }
  const decoding = once('patched object', () => decodeStruct(text, shape.struct))
  const { value, fault, strictFaults: read } = decoding
  const { head, fault: headFault } = headOf(text, decoding)
  if (headFault !== undefined) return { fault: parseFault(headFault) }
  const apiVersion = apiVersionOf(expected)
  if (shape.custom !== undefined && head.kind === '')
    return { fault: `Object 'Kind' is missing in '${text}'` }
  if (shape.custom !== undefined && head.apiVersion === '') {
    throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'")
  }
  if (shape.custom !== undefined && (head.apiVersion !== apiVersion || head.kind !== kind)) {
    if (fault !== undefined) return { fault }
    throw otherType(head, expected, nameIn(value))
  }
  if (head.apiVersion === '') {
    if (head.kind !== '' && head.kind !== kind) return { fault: hubFault(head.kind, expected) }
    return { object: { kind, apiVersion, metadata: {} }, strictFaults: unreadFields(text) }
  }
  const otherForm =
    head.kind === kind && head.apiVersion !== apiVersion
      ? shape.otherForm?.(head.apiVersion)
      : undefined
  if (otherForm !== undefined) return decodeOther(text, otherForm, { shape, head })
  const other = once('kind of patched object', () => kindFault(head, () => text, expected))
  if (other?.what === 'kind') {
    const own = other.struct && decodeStruct(text, other.struct).fault
    return { fault: own ?? other.why }
  }
  if (other !== undefined) return { fault: other.why }
  if (fault !== undefined) return { fault }
  const named = asNamed(value, expected)
  const { object, strictFaults } = once('pruned patched object', () => pruned(named, read, shape))
  const refusal = by === 'apply' ? undefined : shape.refuse?.(object)
  if (refusal !== undefined) return { fault: refusal }
  if (by === 'patch' || shape.custom === undefined)
    return { object: shape.setDefaults(object), strictFaults }
  const kept = by === 'apply' ? { ...object, metadata: named.metadata } : object
  return { object: shape.custom.setDefaultsAroundNulls(kept), strictFaults }
}

/**
 * Returns the error for an object that has another kind and no apiVersion. kube-apiserver looks up
 * such a kind among its internal types, and reports their names.
 */
function hubFault(kind: string, expected: Expected): string {
  const { scheme } = expected.shape
  const [found, own] = [kind, expected.kind].map(
    (name) => scheme.find(apiVersionOf(expected), name)?.hubName,
  )
  if (found !== undefined) return `converting (${found}) to (${own}): unknown conversion`
  const group = quote(expected.group)
  return `no kind ${quote(kind)} is registered for the internal version of group ${group} in scheme ${quote(scheme.name)}`
}

/** Reports all fields as unknown, because no field is known without an apiVersion. */
function unreadFields(text: string): string[] {
  const fields = readAny(new JsonScanner(text))
  const names = isFields(fields) ? Object.keys(fields) : []
  return names
    .filter((name) => name !== 'kind' && name !== 'apiVersion')
    .map((name) => `unknown field ${quote(name)}`)
}

/**
 * Decodes the result of a patch that changed the apiVersion to another version of the kind. It is
 * decoded in the new version.
 */
function decodeOther(
  text: string,
  { struct, fromStored }: ReadForm,
  { shape, head }: { readonly shape: ObjectSchema; readonly head: Head },
): DecodeResult {
  const { value, fault, strictFaults } = decodeStruct(text, struct)
  if (fault !== undefined) return { fault }
  const object = fromStored({ ...value, ...head, metadata: fieldsOf(value['metadata']) })
  return { object: shape.setDefaults(object), strictFaults }
}

const unrecognized = (why: string, { bytes, sent = bytes }: Body, { kind }: Expected): Error =>
  badRequest(
    `the object provided is unrecognized (must be of type ${kind}): ${why} (${summary(sent)})`,
  )

const SUMMARY_BYTES_MAX = 30

export function summary(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>'
  const start = bytes.subarray(0, SUMMARY_BYTES_MAX)
  const shown = bytes[0] === 0x7b ? start.toString('utf8') : start.toString('hex')
  return bytes.length > SUMMARY_BYTES_MAX ? `${shown} ...` : shown
}

const apiVersionOf = ({ group, version }: Expected): string =>
  group === '' ? version : `${group}/${version}`

const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1)
