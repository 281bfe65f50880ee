/** The responses of etcd's KV service, and the type of a key-value pair. */
import { readHeaderOnly, readHeaderRevision } from './header.ts'
import {
  bytesTag,
  MalformedMessage,
  type WireReader,
  varintTag,
} from '../../../net/grpc/codec/reader.ts'

export type KeyValue = {
  /**
   * Key and value are views of the received bytes. Callers must copy them to retain them, because a
   * view keeps the whole response in memory.
   */
  readonly key: Buffer
  readonly value: Buffer
  readonly createRevision: number
  readonly modRevision: number
  /** Number of writes of the key since its creation. */
  readonly version: number
  /** The attached lease. 0n means that there is no lease. */
  readonly lease: bigint
}

export type RangeResponse = {
  /** The revision of etcd when it responded. */
  readonly revision: number
  readonly kvs: readonly KeyValue[]
  readonly more: boolean
  /** Number of keys in the whole range, regardless of the limit. */
  readonly count: number
}

export type PutResponse = { readonly revision: number; readonly prevKv: KeyValue | undefined }

export type DeleteRangeResponse = {
  readonly revision: number
  readonly deleted: number
  readonly prevKvs: readonly KeyValue[]
}

export type OpResponse =
  | ({ readonly type: 'range' } & RangeResponse)
  | ({ readonly type: 'put' } & PutResponse)
  | ({ readonly type: 'delete' } & DeleteRangeResponse)
  | ({ readonly type: 'txn' } & TxnResponse)

export type TxnResponse = {
  readonly revision: number
  readonly succeeded: boolean
  readonly responses: readonly OpResponse[]
}

/**
 * Maximum nesting of responses, which limits the recursion below. A deeper response is malformed,
 * because requests cannot be nested this deeply.
 */
const TXN_DEPTH_MAX = 16

const noBytes: Buffer = Buffer.alloc(0)

export const readCompact = readHeaderOnly

export function readRange(reader: WireReader): RangeResponse {
  let revision = 0
  const kvs: KeyValue[] = []
  let more = false
  let count = 0
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(2)) kvs.push(readKeyValue(reader))
    else if (tag === bytesTag(1)) revision = readHeaderRevision(reader)
    else if (tag === varintTag(3)) more = reader.bool()
    else if (tag === varintTag(4)) count = reader.number()
    else reader.skip(tag)
  }
  return { revision, kvs, more, count }
}

export function readPut(reader: WireReader): PutResponse {
  let revision = 0
  let prevKv: KeyValue | undefined
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) revision = readHeaderRevision(reader)
    else if (tag === bytesTag(2)) prevKv = readKeyValue(reader)
    else reader.skip(tag)
  }
  return { revision, prevKv }
}

export function readDeleteRange(reader: WireReader): DeleteRangeResponse {
  let revision = 0
  let deleted = 0
  const prevKvs: KeyValue[] = []
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) revision = readHeaderRevision(reader)
    else if (tag === varintTag(2)) deleted = reader.number()
    else if (tag === bytesTag(3)) prevKvs.push(readKeyValue(reader))
    else reader.skip(tag)
  }
  return { revision, deleted, prevKvs }
}

export function readTxn(reader: WireReader): TxnResponse {
  return readTxnAt(reader, 1)
}

function readTxnAt(reader: WireReader, depth: number): TxnResponse {
  if (depth > TXN_DEPTH_MAX) throw new MalformedMessage('the response to a txn is nested too deep')
  let revision = 0
  let succeeded = false
  const responses: OpResponse[] = []
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) revision = readHeaderRevision(reader)
    else if (tag === varintTag(2)) succeeded = reader.bool()
    else if (tag === bytesTag(3)) {
      const outer = reader.enter()
      responses.push(readOp(reader, depth))
      reader.leave(outer)
    } else reader.skip(tag)
  }
  return { revision, succeeded, responses }
}

function readOp(reader: WireReader, depth: number): OpResponse {
  let response: OpResponse | undefined
  while (reader.more()) {
    const tag = reader.tag()
    if (tag < bytesTag(1) || tag > bytesTag(4) || (tag & 7) !== 2) {
      reader.skip(tag)
      continue
    }
    const outer = reader.enter()
    if (tag === bytesTag(1)) response = { type: 'range', ...readRange(reader) }
    else if (tag === bytesTag(2)) response = { type: 'put', ...readPut(reader) }
    else if (tag === bytesTag(3)) response = { type: 'delete', ...readDeleteRange(reader) }
    else response = { type: 'txn', ...readTxnAt(reader, depth + 1) }
    reader.leave(outer)
  }
  if (response === undefined) throw new MalformedMessage('an op without a response')
  return response
}

export function readKeyValue(reader: WireReader): KeyValue {
  const outer = reader.enter()
  let key = noBytes
  let value = noBytes
  let createRevision = 0
  let modRevision = 0
  let version = 0
  let lease = 0n
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) key = reader.bytes()
    else if (tag === varintTag(2)) createRevision = reader.number()
    else if (tag === varintTag(3)) modRevision = reader.number()
    else if (tag === varintTag(4)) version = reader.number()
    else if (tag === bytesTag(5)) value = reader.bytes()
    else if (tag === varintTag(6)) lease = reader.id()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return { key, value, createRevision, modRevision, version, lease }
}
