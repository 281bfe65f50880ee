/**
 * The envelope around an object in protobuf: four bytes that say what it is, then a message with kind, apiVersion and the
 * object's own message, which has neither.
 */
import { fieldsOf, type KubeObject } from '../../api/object.ts'
import type { Struct } from '../../schema/schema.ts'
import { decodeMessage } from './decode.ts'
import { encodeMessage } from './encode.ts'
import { ProtobufError, Reader } from './reader.ts'
import { BYTES, Writer } from './writer.ts'

export const protobufPrefix: Buffer = Buffer.from('k8s\0', 'latin1')

export const isProtobuf = (bytes: Buffer): boolean =>
  bytes.length >= protobufPrefix.length && protobufPrefix.compare(bytes, 0, protobufPrefix.length) === 0

export type Envelope = {
  readonly apiVersion: string
  readonly kind: string
  /** The object's own message; a view. */
  readonly raw: Buffer
}

export function encodeObject(object: KubeObject, struct: Struct): Buffer {
  const writer = new Writer()
  writeEnvelope(writer, object, () => encodeMessage(object, struct, writer))
  return writer.take()
}

/** `writeRaw` writes the object's own message. */
export function writeEnvelope(
  writer: Writer,
  { apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>,
  writeRaw: () => void,
): void {
  // The encoding and the type of the content, always empty.
  writer.byte(0)
  writer.tag(4, BYTES)
  writer.byte(0)
  writer.tag(3, BYTES)
  writer.message(2, writeRaw)
  writer.message(1, () => {
    writer.varint(writer.text(kind))
    writer.tag(2, BYTES)
    writer.varint(writer.text(apiVersion))
    writer.tag(1, BYTES)
  })
  writer.bytes(protobufPrefix)
}

/** Fails with a ProtobufError. */
export function openEnvelope(bytes: Buffer): Envelope {
  if (!isProtobuf(bytes)) {
    const shown = [...protobufPrefix].join(' ')
    throw new ProtobufError(`provided data does not appear to be a protobuf message, expected prefix [${shown}]`)
  }
  const reader = new Reader(bytes, protobufPrefix.length)
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

/** Fails with a ProtobufError. */
export function decodeObject({ apiVersion, kind, raw }: Envelope, struct: Struct): KubeObject {
  const value = decodeMessage(new Reader(raw), struct, {})
  return { ...value, kind, apiVersion, metadata: fieldsOf(value['metadata']) }
}
