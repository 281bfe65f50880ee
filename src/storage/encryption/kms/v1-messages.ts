/**
 * Requests and answers of KMS plugins in their first version (k8s.io/kms, v1beta1
 * KeyManagementService), in protobuf.
 */
import { bytesTag, type WireReader } from '../../../net/grpc/codec/reader.ts'
import { WireWriter } from '../../../net/grpc/codec/writer.ts'

/** The version that requests carry, and that a plugin must have. */
export const v1Version = 'v1beta1'

export function encodeVersion(): Buffer {
  const writer = new WireWriter(v1Version.length)
  writer.string(1, v1Version)
  return writer.frame()
}

/** Of Encrypt and of Decrypt: they have the same form. */
export function encodeV1Bytes(bytes: Buffer): Buffer {
  const writer = new WireWriter(bytes.length)
  writer.bytes(2, bytes)
  writer.string(1, v1Version)
  return writer.frame()
}

export const readVersion = (reader: WireReader): string => readFirst(reader).toString('utf8')

/** The bytes of the first field, which is all that an answer has. They are the caller's. */
export function readFirst(reader: WireReader): Buffer {
  let bytes = Buffer.alloc(0)
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) bytes = Buffer.from(reader.bytes())
    else reader.skip(tag)
  }
  return bytes
}
