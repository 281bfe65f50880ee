/** Requests and responses of KMS plugins (k8s.io/kms, v2 KeyManagementService), in protobuf. */
import { bytesTag, type WireReader } from '../../../net/grpc/codec/reader.ts'
import { WireWriter } from '../../../net/grpc/codec/writer.ts'

export type PluginStatus = {
  readonly version: string
  readonly healthz: string
  readonly keyId: string
}

/** Data that the plugin returns when it encrypts, and receives again when it decrypts. */
export type Annotations = ReadonlyMap<string, Buffer>

export type EncryptResponse = {
  readonly ciphertext: Buffer
  readonly keyId: string
  readonly annotations: Annotations
}

export function readStatus(reader: WireReader): PluginStatus {
  let [version, healthz, keyId] = ['', '', '']
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) version = reader.string()
    else if (tag === bytesTag(2)) healthz = reader.string()
    else if (tag === bytesTag(3)) keyId = reader.string()
    else reader.skip(tag)
  }
  return { version, healthz, keyId }
}

export function encodeEncrypt(plain: Buffer, uid: string): Buffer {
  const writer = new WireWriter(plain.length + uid.length)
  writer.string(2, uid)
  writer.bytes(1, plain)
  return writer.frame()
}

export function readEncrypted(reader: WireReader): EncryptResponse {
  let ciphertext = Buffer.alloc(0)
  let keyId = ''
  const annotations = new Map<string, Buffer>()
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) ciphertext = Buffer.from(reader.bytes())
    else if (tag === bytesTag(2)) keyId = reader.string()
    else if (tag === bytesTag(3)) readAnnotation(reader, annotations)
    else reader.skip(tag)
  }
  return { ciphertext, keyId, annotations }
}

export function encodeDecrypt(
  { ciphertext, keyId, annotations }: EncryptResponse,
  uid: string,
): Buffer {
  const writer = new WireWriter(ciphertext.length + keyId.length + uid.length)
  writeAnnotations(writer, 4, annotations)
  writer.string(3, keyId)
  writer.string(2, uid)
  writer.bytes(1, ciphertext)
  return writer.frame()
}

/** Reads an entry of a map, which is a message with the key in field 1 and the value in field 2. */
export function readAnnotation(reader: WireReader, annotations: Map<string, Buffer>): void {
  const outer = reader.enter()
  let name = ''
  let value = Buffer.alloc(0)
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) name = reader.string()
    else if (tag === bytesTag(2)) value = Buffer.from(reader.bytes())
    else reader.skip(tag)
  }
  reader.leave(outer)
  annotations.set(name, value)
}

export function writeAnnotations(
  writer: WireWriter,
  field: number,
  annotations: Annotations,
): void {
  for (const [name, value] of sorted(annotations).toReversed()) {
    const mark = writer.length
    writer.bytes(2, value)
    writer.string(1, name)
    writer.nested(field, mark)
  }
}

export const sorted = (annotations: Annotations): [string, Buffer][] =>
  [...annotations].toSorted(([a], [b]) => (a < b ? -1 : 1))
