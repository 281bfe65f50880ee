/**
 * The envelope around a protobuf object (runtime.Unknown). It begins with four magic bytes. After
 * them comes a message with the kind, the apiVersion, and the message of the object. The message of
 * the object contains neither kind nor apiVersion.
 */
import { type Fields, fieldsOf, type KubeObject } from '../../../api/object.ts'
import { once } from '../../../lib/scheduling/parts.ts'
import type { Struct } from '../../schema/schema.ts'
import { decodeMessage } from './decode.ts'
import { encodeMessage } from './encode.ts'
import { ProtobufError, ProtobufReader, type ReadLimits } from './reader.ts'
import { BYTES, varintBytes, ProtobufWriter } from '../../../lib/bytes/protobuf-writer.ts'

const protobufPrefix: Buffer = Buffer.from('k8s\0', 'latin1')

export const isProtobuf = (bytes: Buffer): boolean =>
  bytes.length >= protobufPrefix.length &&
  protobufPrefix.compare(bytes, 0, protobufPrefix.length) === 0

export type Envelope = {
  readonly apiVersion: string
  readonly kind: string
  /** The message of the object itself. It is a view of the input. */
  readonly raw: Buffer
}

type TypeMeta = Pick<KubeObject, 'apiVersion' | 'kind'>

export function encodeObject(object: TypeMeta & Fields, struct: Struct): Buffer {
  const writer = once('protobuf writer', () => new ProtobufWriter())
  writer.rewind(0)
  writeEnvelope(writer, object, () => encodeMessage(object, struct, writer))
  return writer.take()
}

/** Encodes the message of the object itself, without an envelope, as list items need it. */
export function encodeItem(object: Fields, struct: Struct): Buffer {
  const writer = once('protobuf writer of an item', () => new ProtobufWriter())
  writer.rewind(0)
  encodeMessage(object, struct, writer)
  return writer.take()
}

/** Adds the envelope to an encoded message. */
export function wrapItem(typeMeta: TypeMeta, item: Buffer): Buffer {
  const writer = new ProtobufWriter(item.length + AROUND_BYTES)
  writeEnvelope(writer, typeMeta, () => writer.raw(item))
  return writer.take()
}

/** The envelope adds at most this number of bytes to a message. */
const AROUND_BYTES = 256

function writeEnvelope(writer: ProtobufWriter, typeMeta: TypeMeta, writeRaw: () => void): void {
  writer.raw(noContentType)
  writer.message(2, writeRaw)
  writeTypeMeta(writer, typeMeta)
}

/**
 * The fields contentEncoding (3) and contentType (4). They are always present, and always empty.
 */
const noContentType = Buffer.from([0x1a, 0, 0x22, 0])

function writeTypeMeta(writer: ProtobufWriter, { apiVersion, kind }: TypeMeta): void {
  writer.message(1, () => {
    writer.varint(writer.text(kind))
    writer.tag(2, BYTES)
    writer.varint(writer.text(apiVersion))
    writer.tag(1, BYTES)
  })
  writer.raw(protobufPrefix)
}

/**
 * The bytes before and after the items of a list. `itemHead` returns the bytes before each item.
 */
export type ListEnvelope = { readonly head: Buffer; readonly tail: Buffer }

/**
 * Returns the envelope of a list. `itemsBytes` is the total size of all items, including the bytes
 * that precede each item.
 */
export function listEnvelope(
  typeMeta: TypeMeta,
  metadata: { readonly fields: Fields; readonly struct: Struct },
  itemsBytes: number,
): ListEnvelope {
  const writer = new ProtobufWriter()
  writer.message(1, () => encodeMessage(metadata.fields, metadata.struct, writer))
  writer.varint(writer.length + itemsBytes)
  writer.tag(2, BYTES)
  writeTypeMeta(writer, typeMeta)
  return { head: writer.take(), tail: noContentType }
}

export const itemHeadBytes = (itemBytes: number): number => 1 + varintBytes(itemBytes)

/**
 * Returns the tag and the length of an item, which precede it. A ProtobufWriter would be slower,
 * and lists have many items.
 */
export function itemHead(itemBytes: number): Buffer {
  const head = Buffer.allocUnsafe(itemHeadBytes(itemBytes))
  writeFieldHead(head, 0, 2, itemBytes)
  return head
}

const LENGTH_BYTES = 4

/** Encodes a watch event: its length, its type, and the object in its own envelope. */
export function encodeEvent(type: string, object: Buffer): Buffer {
  const writer = new ProtobufWriter(object.length + AROUND_BYTES)
  writer.message(2, () => writer.message(1, () => writer.raw(object)))
  writer.varint(writer.text(type))
  writer.tag(1, BYTES)
  const length = Buffer.allocUnsafe(LENGTH_BYTES)
  length.writeUInt32BE(writer.length)
  writer.raw(length)
  return writer.take()
}

/**
 * Encodes a watch event whose message has no envelope yet. Watches have many events, so the bytes
 * are written only once, from front to back. `allocate` returns the memory for them.
 */
export type WrapEvent = (type: string, item: Buffer, allocate?: (bytes: number) => Buffer) => Buffer

export function eventWrapper(typeMeta: TypeMeta): WrapEvent {
  const writer = new ProtobufWriter()
  writeTypeMeta(writer, typeMeta)
  const meta = writer.take()
  return (type, item, allocate = (bytes) => Buffer.allocUnsafe(bytes)) => {
    const envelopeBytes = meta.length + fieldBytes(item.length) + noContentType.length
    const objectBytes = fieldBytes(envelopeBytes)
    const eventBytes = fieldBytes(type.length) + fieldBytes(objectBytes)
    const event = allocate(LENGTH_BYTES + eventBytes)
    let at = event.writeUInt32BE(eventBytes)
    at = writeFieldHead(event, at, 1, type.length)
    at += event.write(type, at, 'latin1')
    at = writeFieldHead(event, at, 2, objectBytes)
    at = writeFieldHead(event, at, 1, envelopeBytes)
    event.set(meta, at)
    at = writeFieldHead(event, at + meta.length, 2, item.length)
    event.set(item, at)
    event.set(noContentType, at + item.length)
    return event
  }
}

/** Returns the size of a field, which consists of a one-byte tag, a length, and this many bytes. */
const fieldBytes = (bytes: number): number => 1 + varintBytes(bytes) + bytes

/**
 * Writes the tag and the length of a field. Returns the position at which the bytes of the field
 * begin.
 */
function writeFieldHead(to: Buffer, start: number, field: number, bytes: number): number {
  to[start] = field * 8 + BYTES
  let at = start + 1
  let rest = bytes
  for (; rest >= 0x80; rest >>>= 7) to[at++] = (rest & 0x7f) | 0x80
  to[at] = rest
  return at + 1
}

/** Reads an envelope. Throws a `ProtobufError` if it is invalid. */
export function openEnvelope(bytes: Buffer): Envelope {
  if (bytes.length === 0) throw new ProtobufError('empty data')
  if (!isProtobuf(bytes)) {
    const shown = [...protobufPrefix].join(' ')
    throw new ProtobufError(
      `provided data does not appear to be a protobuf message, expected prefix [${shown}]`,
    )
  }
  if (bytes.length === protobufPrefix.length) throw new ProtobufError('empty body')
  const reader = new ProtobufReader(bytes, protobufPrefix.length)
  let apiVersion = ''
  let kind = ''
  let raw = bytes.subarray(0, 0)
  reader.fields((tag) => {
    if (tag === 16 + BYTES) raw = reader.bytes()
    else if (tag === 8 + BYTES) {
      reader.message(() =>
        reader.fields((inner) => {
          if (inner === 8 + BYTES) apiVersion = reader.text()
          else if (inner === 16 + BYTES) kind = reader.text()
          else return false
          return true
        }),
      )
    } else return false
    return true
  })
  return { apiVersion, kind, raw }
}

/**
 * Decodes the object in an envelope. Throws a `ProtobufError` if the bytes are invalid, or another
 * error if a limit is exceeded.
 */
export function decodeObject(
  { apiVersion, kind, raw }: Envelope,
  struct: Struct,
  limits?: ReadLimits,
): KubeObject {
  const reader = once('protobuf reader', () => readerOf(raw, limits))
  reader.rewind()
  const value = decodeMessage(reader, struct, {})
  return { ...value, kind, apiVersion, metadata: fieldsOf(value['metadata']) }
}

function readerOf(raw: Buffer, limits: ReadLimits | undefined): ProtobufReader {
  const reader = new ProtobufReader(raw)
  return limits === undefined ? reader : reader.limit(limits)
}
