/**
 * Requests and responses of KMS plugins in their first version (k8s.io/kms, v1beta1
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

/** Encodes a request of Encrypt or of Decrypt, which have the same fields. */
export function encodeV1Bytes(bytes: Buffer): Buffer {
  const writer = new WireWriter(bytes.length)
  writer.bytes(2, bytes)
  writer.string(1, v1Version)
  return writer.frame()
}

export const readVersion = (reader: WireReader): string => readFirst(reader).toString('utf8')

/** Reads the bytes of the first field, the only one of a response. The caller owns them. */
export function readFirst(reader: WireReader): Buffer {
  let bytes = Buffer.alloc(0)
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) bytes = Buffer.from(reader.bytes())
    else reader.skip(tag)
  }
  return bytes
}
