/** Encodes and decodes whole objects, as JSON for clients and as stored bytes. */
import { tooLargeToStore } from '../../api/errors.ts'
import { JsonMap } from '../../api/json-map.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  type KubeObject,
  type ObjectMeta,
} from '../../api/object.ts'
import { assert } from '../../lib/errors.ts'
import { eachItem, eachKey, everyKey, isDivided, once, repeat } from '../../lib/scheduling/parts.ts'
import { isSame } from '../schema/equal.ts'
import type { CustomForm, ObjectSchema, ReadForm } from '../schema/object-schema.ts'
import type { Struct } from '../schema/schema.ts'
import { STORED_BYTES_MAX } from '../schema/stored-size.ts'
import { CborError, cborToJson, isCbor } from './cbor/to-json.ts'
import { decodeStoredStruct, decodeStruct } from './decode.ts'
import { parseJson, readAny } from '../../api/json-value.ts'
import { printOrdered, printSorted, printString } from './json.ts'
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { printFields, printOpen } from './print.ts'
import {
  decodeObject,
  encodeObject,
  type Envelope,
  isProtobuf,
  openEnvelope,
} from './protobuf/envelope.ts'
import { ProtobufError } from './protobuf/reader.ts'

/**
 * The JSON of an object for clients. It also contains the positions of two parts: one that differs
 * in events, and one that lists omit.
 */
export type Wire = {
  /** JSON text, followed by a newline. */
  readonly bytes: Buffer
  /**
   * Length of `{"kind":…,"apiVersion":…,`, which the items of a list omit if their kind is built
   * in.
   */
  readonly headBytes: number
  /**
   * Position of the first digit of metadata.resourceVersion, which is replaced in DELETED events.
   */
  readonly versionAt: number
}

const versionKey = '"resourceVersion":"'

/**
 * Prints a custom object as JSON for clients. In lists, such objects keep their kind and
 * apiVersion. The position of resourceVersion is found by its key. A label or annotation can have
 * the same key, but it comes earlier in the metadata. So the last match is the right one.
 */
function printOpenWire(object: KubeObject, struct: Struct): Wire {
  const { text, metadataEnd } = printOpen(object, struct)
  const keyAt = text.lastIndexOf(versionKey, metadataEnd)
  assert(keyAt !== -1, 'an object on the wire has a resourceVersion')
  const versionAt = Buffer.byteLength(text.slice(0, keyAt)) + versionKey.length
  return { bytes: Buffer.from(`${text}\n`, 'utf8'), headBytes: OPEN_HEAD_BYTES, versionAt }
}

/** Length of the opening brace, which precedes the fields of a custom object. */
const OPEN_HEAD_BYTES = 1

/** Prints an object as JSON for clients. Its resourceVersion must be set. */
export function printWire(object: KubeObject, schema: ObjectSchema): Wire {
  if (schema.struct.open !== undefined) return printOpenWire(object, schema.struct)
  const { bytes, headBytes } = printUnversioned(object, schema)
  // The search finds a key and never a part of a string, because quotes inside strings are escaped.
  // No earlier key can be named resourceVersion.
  const keyAt = bytes.indexOf(versionKey, headBytes)
  assert(keyAt !== -1, 'an object on the wire has a resourceVersion')
  return { bytes, headBytes, versionAt: keyAt + versionKey.length }
}

/**
 * Does the same as `printWire` for objects that are never stored. Their resourceVersion is never
 * replaced, so its position is not needed.
 */
export function printUnversioned(object: KubeObject, { struct }: ObjectSchema): Wire {
  const head = printHead(object)
  const bytes = Buffer.from(`${head}${printBody(object, struct)}}\n`, 'utf8')
  return { bytes, headBytes: Buffer.byteLength(head), versionAt: 0 }
}

/**
 * Returns the JSON of an object for clients, made from the bytes that `encodeStored` returned. Only
 * resourceVersion is inserted, because the revision is now known. Returns undefined if the two
 * forms also differ in other ways.
 */
export function wireOfStored(
  bytes: Buffer,
  object: KubeObject,
  { struct, stored, storedAs }: ObjectSchema,
): Wire | undefined {
  if (storedAs === 'protobuf') return undefined
  const { resourceVersion = '' } = object.metadata
  if (struct.open !== undefined) {
    const at = versionPlaces.get(bytes)
    return at === undefined
      ? undefined
      : withVersionAt(bytes, at, { resourceVersion, headBytes: OPEN_HEAD_BYTES })
  }
  const headBytes = Buffer.byteLength(printHead(object))
  // The search finds a key and never a part of a string, because quotes inside strings are escaped.
  // No earlier key can be named uid.
  const uidAt =
    stored === undefined && resourceVersion !== '' ? bytes.indexOf(uidKey, headBytes) : -1
  const end = uidAt === -1 ? -1 : bytes.indexOf('",', uidAt + uidKey.length)
  if (end === -1) return undefined
  return withVersionAt(bytes, end + '",'.length, { resourceVersion, headBytes })
}

function withVersionAt(
  bytes: Buffer,
  at: number,
  { resourceVersion, headBytes }: { readonly resourceVersion: string; readonly headBytes: number },
): Wire {
  const version = Buffer.from(`${versionKey}${resourceVersion}",`)
  const parts = [bytes.subarray(0, at), version, bytes.subarray(at)]
  return { bytes: Buffer.concat(parts), headBytes, versionAt: at + versionKey.length }
}

/**
 * The key of the field after which resourceVersion is inserted. Every stored object has this field.
 */
const uidKey = '"uid":"'

/**
 * Prints an object for a response. Use this if the JSON is not cached. The object need not have a
 * resourceVersion, for example after a dry run.
 */
export function printObject(object: KubeObject, { struct }: ObjectSchema): Buffer {
  return bytesOf(once('text of an object', () => `${objectText(object, struct)}\n`))
}

/**
 * Number of characters that are encoded at once. Encoding them takes a fraction of a millisecond.
 */
const PIECE_CHARACTERS = 256 << 10

const noPieces = (): { readonly pieces: Buffer[]; at: number } => ({ pieces: [], at: 0 })

const newBytes = (length: number) => (): { readonly bytes: Buffer; used: number } => ({
  bytes: Buffer.allocUnsafeSlow(length),
  used: 0,
})

/**
 * Encodes a text as UTF-8. If the caller's work is divided into parts (lib/scheduling/parts.ts),
 * this function can be interrupted.
 */
function bytesOf(text: string): Buffer {
  if (text.length <= PIECE_CHARACTERS || !isDivided()) return Buffer.from(text, 'utf8')
  const { pieces } = repeat('bytes of a text', noPieces, (state) => {
    const end = state.at + PIECE_CHARACTERS
    // A piece must not end inside a surrogate pair.
    const piece = text.slice(state.at, (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end)
    state.pieces.push(Buffer.from(piece, 'utf8'))
    state.at += piece.length
    return state.at < text.length
  })
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const { bytes } = eachItem('joined bytes of a text', pieces, newBytes(length), (state, piece) => {
    state.used += piece.copy(state.bytes, state.used)
    return true
  })
  return bytes
}

/** Prints an object as JSON without a newline. */
export function objectText(object: KubeObject, struct: Struct): string {
  if (struct.open !== undefined) return printOpen(object, struct).text
  const body = printBody(object, struct)
  // The options of a CONNECT request may consist of kind and apiVersion alone.
  return body === '' ? `${printHead(object).slice(0, -1)}}` : `${printHead(object)}${body}}`
}

/**
 * Encodes an object for the database, without its resourceVersion. The database itself knows the
 * resourceVersion as the revision of the object.
 */
export function encodeStored(
  object: KubeObject,
  { struct, stored, storedAs }: ObjectSchema,
): Buffer {
  const plain = withoutVersion(object)
  // Empty metadata fields are dropped, because kube-apiserver decodes an object before it converts
  // it.
  const form =
    stored === undefined
      ? plain
      : stored.toStored(struct.open === undefined ? plain : withoutEmptyMetadata(plain))
  if (storedAs === 'protobuf') return encodeObject(form, stored?.struct ?? struct)
  if (struct.open !== undefined) return encodeOpen(form, stored?.struct ?? struct)
  return bytesOf(
    once('stored text', () => `${storable(objectText(form, stored?.struct ?? struct))}\n`),
  )
}

/**
 * Maximum length of the text of a stored object. No storage backend accepts larger values; etcd
 * accepts 1.5 MiB by default.
 */
const STORED_CHARACTERS_MAX = 4 * STORED_BYTES_MAX

/**
 * Returns the text of an object. Throws an error with status 413 if the text is too large to be
 * stored. Because of its defaults, the object can be many times as large as the body of the
 * request.
 */
function storable(text: string): string {
  if (text.length > STORED_CHARACTERS_MAX) throw tooLargeToStore(STORED_BYTES_MAX)
  return text
}

function encodeOpen(object: KubeObject, struct: Struct): Buffer {
  const { text, metadataEnd } = once('open text', () => printOpen(object, struct))
  storable(text)
  if (hasEmptyMetadata(object)) return Buffer.from(`${withEmptyMetadata(text, object)}\n`, 'utf8')
  const bytes = bytesOf(`${text}\n`)
  const { uid = '', selfLink = '' } = object.metadata
  // The metadata fields are sorted by name. Without selfLink, uid is the last one, so
  // resourceVersion is inserted before it.
  if (uid !== '' && selfLink === '') {
    const uidAt = text.lastIndexOf(uidKey, metadataEnd)
    versionPlaces.set(bytes, Buffer.byteLength(text.slice(0, uidAt)))
  }
  return bytes
}

/**
 * For the bytes of a custom object, the position at which resourceVersion is inserted. It cannot be
 * searched later, because a custom object can have a field `uid` anywhere.
 */
const versionPlaces = new WeakMap<Buffer, number>()

function withoutVersion(object: KubeObject): KubeObject {
  if (object.metadata.resourceVersion === undefined) return object
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** Error for a stored value that this server cannot decode. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
}

/**
 * Decodes the output of `encodeStored` and `printWire`, and objects stored by kube-apiserver.
 * Throws an `UnreadableError` if the value cannot be decoded. The bytes are not retained.
 */
export function decodeStored(value: Buffer, schema: ObjectSchema, revision: number): KubeObject {
  const bytes = isCbor(value) ? Buffer.from(readable(() => cborToJson(value))) : value
  if (schema.custom !== undefined)
    return decodeCustom(bytes, schema, { form: schema.custom, revision })
  return decodeBuiltIn(bytes, schema, revision)
}

function numbered(object: KubeObject, revision: number): KubeObject {
  const metadata: ObjectMeta = { ...object.metadata, resourceVersion: `${revision}` }
  return { ...object, metadata }
}

/**
 * Objects that would be stored in another form if they were written now. Their stored form has an
 * old version, lacks some defaults, or contains values that clients never get.
 */
const outdated = new WeakSet<KubeObject>()

export const markOutdated = (object: KubeObject): void => void outdated.add(object)

/**
 * Whether the stored form of an object is outdated. If so, even a write without changes must store
 * the object again.
 */
export const isOutdated = (object: KubeObject): boolean => outdated.has(object)

/**
 * Decodes a custom object. Bytes with a resourceVersion are JSON for clients, which needs no
 * conversion and is never outdated.
 */
function decodeCustom(
  bytes: Buffer,
  { struct }: ObjectSchema,
  { form, revision }: { readonly form: CustomForm; readonly revision: number },
): KubeObject {
  const read = once('read custom object', () => readStoredCustom(bytes, struct))
  if (read.metadata.resourceVersion !== undefined) return numbered(read, revision)
  const whole = once('custom object', () => withCount(form.fromStored(withoutEmptyMetadata(read))))
  const object = numbered(whole, revision)
  const isCounted = read.metadata.generation !== undefined
  const isCurrent = whole === read || (isCounted && !hasEmptyMetadata(read) && form.isCurrent(read))
  if (read.apiVersion !== form.storedVersion || !isCurrent) outdated.add(object)
  return object
}

/**
 * Whether the metadata contains empty fields. Only a server-side apply in the stored version can
 * add such fields to a custom object. kube-apiserver stores them, and drops them when it decodes
 * the object. All other writes decode the metadata first.
 */
export const hasEmptyMetadata = ({ metadata }: KubeObject): boolean =>
  Object.values(metadata).some(isEmpty)

export function withoutEmptyMetadata(object: KubeObject): KubeObject {
  if (!hasEmptyMetadata(object)) return object
  const kept = Object.entries(object.metadata).filter(([, value]) => !isEmpty(value))
  return { ...object, metadata: Object.fromEntries(kept) }
}

/** Adds the empty metadata fields of an object, which other code does not print, to its JSON. */
function withEmptyMetadata(text: string, object: KubeObject): string {
  const shown = fieldsOf(readAny(new JsonScanner(text)))
  const empty = Object.fromEntries(
    Object.entries(object.metadata).filter(([, value]) => isEmpty(value)),
  )
  return printSorted({ ...shown, metadata: { ...fieldsOf(shown['metadata']), ...empty } })
}

function isEmpty(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false
  return (Array.isArray(value) ? value : Object.keys(value)).length === 0
}

/** Sets the generation to 1 if the object was stored before generations existed. */
const withCount = (object: KubeObject): KubeObject =>
  object.metadata.generation === undefined
    ? { ...object, metadata: { ...object.metadata, generation: 1 } }
    : object

/**
 * Decodes a stored custom object. As in kube-apiserver, metadata fields of a wrong type are
 * dropped, so that clients can repair the object. Only a client that writes directly to etcd can
 * cause them.
 */
function readStoredCustom(bytes: Buffer, struct: Struct): KubeObject {
  try {
    return readStored(bytes, struct)
  } catch (fault) {
    const repaired = fault instanceof UnreadableError ? withoutMalformed(bytes, struct) : undefined
    if (repaired === undefined) throw fault
    return readStored(repaired, struct)
  }
}

/**
 * Returns the JSON without metadata fields of a wrong type. Returns undefined if the JSON is not an
 * object with metadata.
 */
function withoutMalformed(bytes: Buffer, struct: Struct): Buffer | undefined {
  const given = parsed(bytes)
  if (given === undefined || !isFields(given['metadata'])) return undefined
  const { kind, apiVersion } = given
  const isWellFormed = ([name, value]: readonly [string, Json | undefined]): boolean => {
    const alone = printOrdered({ kind, apiVersion, metadata: { [name]: value } })
    return decodeStruct(alone, struct).fault === undefined
  }
  const metadata = Object.fromEntries(Object.entries(given['metadata']).filter(isWellFormed))
  return Buffer.from(printOrdered({ ...given, metadata }))
}

function parsed(bytes: Buffer): Fields | undefined {
  try {
    const value = readAny(new JsonScanner(bytes.toString('utf8')))
    return isFields(value) ? value : undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

function decodeBuiltIn(bytes: Buffer, schema: ObjectSchema, revision: number): KubeObject {
  const { setDefaults, completeStored, isDefaultedAgain } = schema
  const envelope = isProtobuf(bytes) ? readEnvelope(bytes) : undefined
  const form = formOf(envelope?.apiVersion ?? apiVersionOf(bytes), schema)
  const read = once('read stored object', () =>
    envelope === undefined ? readStored(bytes, form.struct) : readProtobuf(envelope, form.struct),
  )
  const given = form.fromStored(read)
  const stored = withoutNullBytes(given, schema)
  const defaulted = once('stored object with defaults', () => setDefaults(stored))
  const object = numbered(completeStored?.(defaulted) ?? defaulted, revision)
  // JSON with a resourceVersion was made for clients. It is never outdated.
  if (read.metadata.resourceVersion !== undefined) return object
  const isOld = read.apiVersion !== (schema.stored?.apiVersion ?? object.apiVersion)
  const isOther = stored !== given || (isDefaultedAgain === true && !isSame(defaulted, stored))
  if (isOld || isOther) markOutdated(object)
  return object
}

const newMap = (): JsonMap => new JsonMap()

/**
 * Replaces each null in a field of type bytes by empty bytes. Returns the same object if there is
 * nothing to replace.
 */
export function withoutNullBytes(
  object: KubeObject,
  { bytesField = '' }: Pick<ObjectSchema, 'bytesField'>,
): KubeObject {
  const bytes = bytesField === '' ? undefined : object[bytesField]
  if (!isFields(bytes) || everyKey('bytes that are not null', bytes, (key) => bytes[key] !== null))
    return object
  const values = eachKey('bytes without null', bytes, newMap, (kept, key) => {
    kept[key] = bytes[key] ?? ''
    return true
  })
  return { ...object, [bytesField]: values }
}

/**
 * Returns the schema with which a stored value is decoded, and the conversion after that. Most
 * values have the storage version, or are JSON for clients.
 */
function formOf(
  apiVersion: string | undefined,
  { struct, stored, otherForm }: ObjectSchema,
): ReadForm {
  if (stored !== undefined && (apiVersion === undefined || apiVersion === stored.apiVersion))
    return stored
  if (apiVersion === undefined || otherForm === undefined)
    return { struct, fromStored: (object) => object }
  const other = otherForm(apiVersion)
  if (other === undefined)
    throw new UnreadableError(`the value has the unknown apiVersion ${apiVersion}`)
  return other
}

const apiVersionOf = (json: Buffer): string | undefined =>
  headForm.exec(json.toString('latin1', 0, HEAD_BYTES_MAX))?.[1] ?? apiVersionInside(json)

/**
 * Searches for the apiVersion anywhere in JSON that another program than an API server has written.
 */
function apiVersionInside(json: Buffer): string | undefined {
  try {
    const value = parseJson(json)
    const isObject = typeof value === 'object' && value !== null && 'apiVersion' in value
    return isObject && typeof value.apiVersion === 'string' ? value.apiVersion : undefined
  } catch (error) {
    // Ignore malformed JSON here. The decoder reports it later.
    if (error instanceof SyntaxError || error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

const readEnvelope = (bytes: Buffer): Envelope => readable(() => openEnvelope(bytes))
const readProtobuf = (envelope: Envelope, struct: Struct): KubeObject =>
  readable(() => decodeObject(envelope, struct))

function readable<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof ProtobufError || cause instanceof CborError)) throw cause
    throw new UnreadableError(cause.message, { cause })
  }
}

/**
 * Matches the beginning of a stored value. Keelson and kube-apiserver write kind and apiVersion
 * before all other fields. For built-in kinds, both have at most HEAD_BYTES_MAX bytes.
 */
const headForm = /^\s*\{\s*"kind":\s*"[^"]*",\s*"apiVersion":\s*"([^"]*)"/
const HEAD_BYTES_MAX = 256

function readStored(bytes: Buffer, struct: Struct): KubeObject {
  const text = bytes.toString('utf8')
  if (!/^\s*\{/.test(text)) throw new UnreadableError(noObject(text))
  try {
    const { value, fault } = decodeStoredStruct(text, struct)
    if (fault !== undefined) throw new UnreadableError(fault)
    const { kind, apiVersion } = value
    if (typeof kind !== 'string' || typeof apiVersion !== 'string') {
      throw new UnreadableError('the value lacks kind or apiVersion')
    }
    return { ...value, kind, apiVersion, metadata: fieldsOf(value['metadata']) }
  } catch (cause) {
    if (cause instanceof JsonSyntaxError)
      throw new UnreadableError(`couldn't get version/kind; json parse error: ${cause.message}`, {
        cause,
      })
    throw cause
  }
}

/**
 * Returns the error for a stored value that is not an object. kube-apiserver interprets such a
 * value as base64, and reports the position at which it is invalid.
 */
function noObject(text: string): string {
  const wrong = text.search(/[^A-Za-z0-9+/=\r\n]/)
  const rest = text.length % BASE64_GROUP
  const at = wrong !== -1 ? wrong : text.length - rest
  return wrong === -1 && rest === 0
    ? 'the value is not an object'
    : `illegal base64 data at input byte ${at}`
}

const BASE64_GROUP = 4

const printHead = ({ kind, apiVersion }: KubeObject): string =>
  `{"kind":${printString(kind)},"apiVersion":${printString(apiVersion)},`

/** Prints all fields except kind and apiVersion, which are the first two fields of every kind. */
const printBody = (object: KubeObject, struct: Struct): string =>
  printFields(object, struct, HEAD_FIELDS)

const HEAD_FIELDS = 2
