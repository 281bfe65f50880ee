/** The requests and responses of etcd's Lease service. */
import { bytesTag, type WireReader, varintTag } from '../../../net/grpc/codec/reader.ts'
import { WireWriter } from '../../../net/grpc/codec/writer.ts'

export type Lease = {
  readonly id: bigint
  /**
   * Number of remaining seconds. If it is negative, the lease does not exist. In the response to a
   * keep-alive, 0 also means that the lease does not exist.
   */
  readonly ttlSeconds: number
}

export type LeaseStatus = Lease & {
  readonly grantedTtlSeconds: number
  /** The attached keys, if they were requested. Callers must copy them to retain them. */
  readonly keys: readonly Buffer[]
}

export function encodeLeaseGrant(ttlSeconds: number, id: bigint | undefined): Buffer {
  const writer = new WireWriter(0)
  writer.id(2, id)
  writer.number(1, ttlSeconds)
  return writer.frame()
}

/** Encodes a request that contains only a lease ID, which is a revocation or a keep-alive. */
export function encodeLeaseId(id: bigint): Buffer {
  const writer = new WireWriter(0)
  writer.id(1, id)
  return writer.frame()
}

export function encodeLeaseTimeToLive(id: bigint, withKeys: boolean): Buffer {
  const writer = new WireWriter(0)
  writer.bool(2, withKeys)
  writer.id(1, id)
  return writer.frame()
}

/** Reads the response to a grant or a keep-alive, which have the same fields. */
export function readLease(reader: WireReader): Lease {
  let id = 0n
  let ttlSeconds = 0
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === varintTag(2)) id = reader.id()
    else if (tag === varintTag(3)) ttlSeconds = reader.number()
    else reader.skip(tag)
  }
  return { id, ttlSeconds }
}

export function readLeaseStatus(reader: WireReader): LeaseStatus {
  let id = 0n
  let ttlSeconds = 0
  let grantedTtlSeconds = 0
  const keys: Buffer[] = []
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === varintTag(2)) id = reader.id()
    else if (tag === varintTag(3)) ttlSeconds = reader.number()
    else if (tag === varintTag(4)) grantedTtlSeconds = reader.number()
    else if (tag === bytesTag(5)) keys.push(reader.bytes())
    else reader.skip(tag)
  }
  return { id, ttlSeconds, grantedTtlSeconds, keys }
}
