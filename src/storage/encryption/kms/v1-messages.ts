/**
 * Requests and responses of the first version of the KMS plugin API (k8s.io/kms, v1beta1
 * KeyManagementService), in protobuf.
 */
import { bytesTag, type WireReader } from '../../../net/grpc/codec/reader.ts'
import { WireWriter } from '../../../net/grpc/codec/writer.ts'

/** The API version that requests contain. A plugin must have the same version. */
export const v1Version = 'v1beta1'

export function encodeVersion(): Buffer {
  const writer = new WireWriter(v1Version.length)
  writer.string(1, v1Version)
  return writer.frame()
}

/** Encodes a request for Encrypt or Decrypt, which have the same fields. */
export function encodeV1Bytes(bytes: Buffer): Buffer {
  const writer = new WireWriter(bytes.length)
  writer.bytes(2, bytes)
  writer.string(1, v1Version)
  return writer.frame()
}

export const readVersion = (reader: WireReader): string => readFirst(reader).toString('utf8')

/** Reads the bytes of the first field, which is the only field of a response. Returns a copy. */
export function readFirst(reader: WireReader): Buffer {
  let bytes = Buffer.alloc(0)
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) bytes = Buffer.from(reader.bytes())
    else reader.skip(tag)
  }
  return bytes
}
