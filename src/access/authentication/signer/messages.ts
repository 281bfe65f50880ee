/**
 * Encodes requests to an external signer and decodes its responses, in protobuf (ExternalJWTSigner
 * in k8s.io/externaljwt, v1alpha1).
 */
import { bytesTag, varintTag, type WireReader } from '../../../net/grpc/codec/reader.ts'
import { WireWriter } from '../../../net/grpc/codec/writer.ts'

export type SignJwtResponse = {
  /** Header and signature, both in base64url without padding. */
  readonly header: string
  readonly signature: string
}

export type SignerKeys = {
  readonly keys: readonly SignerKey[]
  /** Timestamp of the keys in seconds since 1970. Null if the signer did not send it. */
  readonly dataSeconds: number | null
  readonly refreshSeconds: number
}

export type SignerKey = {
  readonly id: string
  /** SubjectPublicKeyInfo in DER. */
  readonly der: Buffer
  readonly isExcludedFromDiscovery: boolean
}

export function encodeSign(claims: string): Buffer {
  const writer = new WireWriter(claims.length)
  writer.string(1, claims)
  return writer.frame()
}

export function readSigned(reader: WireReader): SignJwtResponse {
  let [header, signature] = ['', '']
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) header = reader.string()
    else if (tag === bytesTag(2)) signature = reader.string()
    else reader.skip(tag)
  }
  return { header, signature }
}

export function readKeys(reader: WireReader): SignerKeys {
  const keys: SignerKey[] = []
  let dataSeconds: number | null = null
  let refreshSeconds = 0
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) keys.push(within(reader, readKey))
    else if (tag === bytesTag(2)) dataSeconds = within(reader, readTimestamp)
    else if (tag === varintTag(3)) refreshSeconds = reader.number()
    else reader.skip(tag)
  }
  return { keys, dataSeconds, refreshSeconds }
}

function readKey(reader: WireReader): SignerKey {
  let id = ''
  let der = Buffer.alloc(0)
  let isExcludedFromDiscovery = false
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) id = reader.string()
    // Copy the bytes. The reader returns a Buffer that shares memory with the received message.
    else if (tag === bytesTag(2)) der = Buffer.from(reader.bytes())
    else if (tag === varintTag(3)) isExcludedFromDiscovery = reader.bool()
    else reader.skip(tag)
  }
  return { id, der, isExcludedFromDiscovery }
}

const NANOS_PER_SECOND = 1e9

function readTimestamp(reader: WireReader): number {
  let [seconds, nanos] = [0, 0]
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === varintTag(1)) seconds = reader.number()
    else if (tag === varintTag(2)) nanos = reader.number()
    else reader.skip(tag)
  }
  return seconds + nanos / NANOS_PER_SECOND
}

/** Reads the maximum lifetime of a token in seconds. */
export function readMetadata(reader: WireReader): number {
  let secondsMax = 0
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === varintTag(1)) secondsMax = reader.number()
    else reader.skip(tag)
  }
  return secondsMax
}

function within<T>(reader: WireReader, read: (reader: WireReader) => T): T {
  const outer = reader.enter()
  const value = read(reader)
  reader.leave(outer)
  return value
}
