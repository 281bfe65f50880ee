/**
 * The stored form of a KMS v2 value: a protobuf message that begins with the encrypted data. The
 * following fields identify the source of its key, and are the same for many values.
 */
import {
  bytesTag,
  MalformedMessage,
  NumberTooLarge,
  varintTag,
  WireReader,
} from '../../../net/grpc/codec/reader.ts'
import { WireWriter } from '../../../net/grpc/codec/writer.ts'
import { unreadable } from '../cipher.ts'
import {
  type Annotations,
  type EncryptResponse,
  readAnnotation,
  sorted,
  writeAnnotations,
} from './v2-messages.ts'

const KEY_ID_BYTES_MAX = 1024
const SOURCE_BYTES_MAX = 1024
const ANNOTATIONS_BYTES_MAX = 32 << 10

/**
 * How the key of a value is obtained from its source. The numbers are those of the protobuf
 * enumeration.
 */
export const sourceTypes = { key: 0, seed: 1 } as const
export type SourceType = (typeof sourceTypes)[keyof typeof sourceTypes]

/** An encrypted source of keys. The plugin can decrypt it. */
export type SealedSource = EncryptResponse & { readonly type: SourceType }

export type EncryptedObject = { readonly data: Buffer; readonly source: SealedSource }

/** Encodes all fields of a stored value that follow the encrypted data. */
export function encodeSource({ ciphertext, keyId, annotations, type }: SealedSource): Buffer {
  const writer = new WireWriter(ciphertext.length + keyId.length)
  writer.number(5, type)
  writeAnnotations(writer, 4, annotations)
  writer.bytes(3, ciphertext)
  writer.string(2, keyId)
  return writer.frame().subarray(FRAME_HEAD_BYTES)
}

const FRAME_HEAD_BYTES = 5
const DATA_TAG = bytesTag(1)

/**
 * Returns the length of the head of the data field, which consists of a tag and the length of the
 * data.
 */
export function dataHeadBytes(bytes: number): number {
  let count = 2
  for (let rest = bytes; rest >= 0x80; rest = Math.floor(rest / 0x80)) count++
  return count
}

/** Writes the tag and the length of the data, starting at `from`. */
export function writeDataHead(target: Buffer, from: number, bytes: number): void {
  let at = from
  target[at++] = DATA_TAG
  let rest = bytes
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) target[at++] = (rest % 0x80) | 0x80
  target[at] = rest
}

/**
 * Splits a value into the data and the remaining fields. This works if the data comes first, as in
 * all values that servers write. Returns undefined if the value must be parsed instead.
 */
export function splitData(
  value: Buffer,
): { readonly data: Buffer; readonly rest: Buffer } | undefined {
  if (value[0] !== DATA_TAG) return undefined
  let length = 0
  for (let at = 1, scale = 1; at <= 5; at++, scale *= 0x80) {
    const byte = value[at]
    if (byte === undefined) return undefined
    length += (byte & 0x7f) * scale
    if (byte >= 0x80) continue
    const end = at + 1 + length
    return end > value.length
      ? undefined
      : { data: value.subarray(at + 1, end), rest: value.subarray(end) }
  }
  return undefined
}

/**
 * Decodes a stored value. Throws a StorageError with the code 'corrupt' if the value cannot be
 * decoded.
 */
export function decodeObject(value: Buffer): EncryptedObject {
  const object = parse(value)
  const fault = object.data.length === 0 ? 'encrypted data is empty' : sourceFault(object.source)
  if (fault !== undefined) throw unreadable(fault)
  return object
}

function parse(value: Buffer): EncryptedObject {
  try {
    return read(new WireReader(value))
  } catch (error) {
    if (error instanceof MalformedMessage || error instanceof NumberTooLarge) {
      throw unreadable('proto: cannot parse invalid wire-format data', error)
    }
    throw error
  }
}

function read(reader: WireReader): EncryptedObject {
  let [data, ciphertext] = [Buffer.alloc(0), Buffer.alloc(0)]
  let keyId = ''
  let type = 0
  const annotations = new Map<string, Buffer>()
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === DATA_TAG) data = Buffer.from(reader.bytes())
    else if (tag === bytesTag(2)) keyId = reader.string()
    else if (tag === bytesTag(3)) ciphertext = Buffer.from(reader.bytes())
    else if (tag === bytesTag(4)) readAnnotation(reader, annotations)
    else if (tag === varintTag(5)) type = reader.enumeration()
    else reader.skip(tag)
  }
  if (type !== sourceTypes.key && type !== sourceTypes.seed)
    throw unreadable(`unknown encryptedDEKSourceType: ${type}`)
  return { data, source: { ciphertext, keyId, annotations, type } }
}

/**
 * Returns an error message if the source is invalid and must not be stored. Returns undefined if it
 * is valid.
 */
export function sourceFault({
  ciphertext,
  keyId,
  annotations,
}: EncryptResponse): string | undefined {
  const { length } = ciphertext
  if (length === 0) return 'failed to validate encrypted DEK source: encrypted DEK source is empty'
  if (length > SOURCE_BYTES_MAX) {
    return `failed to validate encrypted DEK source: encrypted DEK source is ${tooLong(length, SOURCE_BYTES_MAX)}`
  }
  const idFault = keyIdFault(keyId)
  if (idFault !== undefined) return `failed to validate key id: ${idFault.message}`
  const why = annotationsFault(annotations)
  return why === undefined ? undefined : `failed to validate annotations: ${why}`
}

export function keyIdFault(
  keyId: string,
): { readonly error: 'empty' | 'too_long'; readonly message: string } | undefined {
  if (keyId === '') return { error: 'empty', message: 'keyID is empty' }
  const bytes = Buffer.byteLength(keyId)
  if (bytes <= KEY_ID_BYTES_MAX) return undefined
  return { error: 'too_long', message: `keyID is ${tooLong(bytes, KEY_ID_BYTES_MAX)}` }
}

const tooLong = (bytes: number, max: number): string =>
  `${bytes} bytes, which exceeds the max size of ${max}`

/** Matches valid names of annotations, which are domains with at least two labels. */
const domain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+\.?$/

function annotationsFault(annotations: Annotations): string | undefined {
  let bytes = 0
  for (const [name, value] of annotations) {
    bytes += Buffer.byteLength(name) + value.length
    if (name.length > 254 || !domain.test(name)) {
      return `annotations: Invalid value: ${JSON.stringify(name)}: should be a domain with at least two segments separated by dots`
    }
  }
  if (bytes <= ANNOTATIONS_BYTES_MAX) return undefined
  return `total size of annotations is ${bytes}, which exceeds the max size of ${ANNOTATIONS_BYTES_MAX}`
}

/**
 * Returns a cache key that is the same for equal sources, although servers write annotations in any
 * order.
 */
export const sourceKey = (source: SealedSource): string =>
  encodeSource({ ...source, annotations: new Map(sorted(source.annotations)) }).toString('latin1')
