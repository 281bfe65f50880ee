/** etcd's KV service: ranges, writes, transactions, compaction. */
import type { CallOptions, Channel, Method } from '../../net/grpc/channel.ts'
import { type Header, readClusterHeader } from './codec/header.ts'
import {
  type CompactRequest,
  type DeleteRangeRequest,
  encodeCompact,
  encodeDeleteRange,
  encodePut,
  encodeRange,
  encodeTxn,
  type PutRequest,
  type RangeRequest,
  type TxnRequest,
} from './codec/kv-request.ts'
import {
  type DeleteRangeResponse,
  type PutResponse,
  type RangeResponse,
  readCompact,
  readDeleteRange,
  readPut,
  readRange,
  readTxn,
  type TxnResponse,
} from './codec/kv-response.ts'
import type { WireReader } from '../../net/grpc/codec/reader.ts'

export class Kv {
  readonly #channel: Channel

  constructor(channel: Channel) {
    this.#channel = channel
  }

  range(request: RangeRequest, call?: CallOptions): Promise<RangeResponse> {
    return this.#channel.unary(
      request.serializable === true ? rangeSerializable : range,
      encodeRange(request),
      call,
    )
  }

  /**
   * Returns the latest revision and the ID of the cluster, by means of a linearizable range without
   * values. The client must have permission to read the key.
   */
  head(key: Buffer, call?: CallOptions): Promise<Header> {
    return this.#channel.unary(head, encodeRange({ key, countOnly: true }), call)
  }

  put(request: PutRequest, call?: CallOptions): Promise<PutResponse> {
    return this.#channel.unary(put, encodePut(request), call)
  }

  deleteRange(request: DeleteRangeRequest, call?: CallOptions): Promise<DeleteRangeResponse> {
    return this.#channel.unary(deleteRange, encodeDeleteRange(request), call)
  }

  /**
   * Runs a transaction. It is always treated as a write, even if it contains only ranges, so it is
   * not retried if its outcome is unknown.
   */
  txn(request: TxnRequest, call?: CallOptions): Promise<TxnResponse> {
    return this.#channel.unary(txn, encodeTxn(request), call)
  }

  compact(request: CompactRequest, call?: CallOptions): Promise<{ readonly revision: number }> {
    return this.#channel.unary(compact, encodeCompact(request), call)
  }
}

const range = method('Range', readRange, { isRead: true })
const head = method('Range', readClusterHeader, { isRead: true })
/** A member serves serializable ranges from its own state, so it needs no leader. */
const rangeSerializable = { ...range, requireLeader: false }
const put = method('Put', readPut)
const deleteRange = method('DeleteRange', readDeleteRange)
const txn = method('Txn', readTxn)
const compact = method('Compact', readCompact)

function method<T>(
  name: string,
  read: (reader: WireReader) => T,
  { isRead = false } = {},
): Method<T> {
  return { path: `/etcdserverpb.KV/${name}`, read, isRead, requireLeader: true }
}
