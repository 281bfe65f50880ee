/**
 * The requests of etcd's KV service. Field numbers are those of etcd's rpc.proto. Fields are
 * written in descending order (see writer.ts). Zero and absent values are equivalent in all of
 * these fields, including compare targets.
 */
import { GrpcError } from '../../../net/grpc/errors.ts'
import { WireWriter } from '../../../net/grpc/codec/writer.ts'

export type SortTarget = 'key' | 'version' | 'create' | 'mod' | 'value'

export type RangeRequest = {
  readonly key: Uint8Array
  /**
   * End of the range (exclusive). A single zero byte means the end of all keys. If absent, the
   * request is for `key` alone.
   */
  readonly rangeEnd?: Uint8Array | undefined
  /** Maximum number of keys. If 0 or absent, there is no limit. */
  readonly limit?: number | undefined
  /** Reads the state at this revision. If 0 or absent, reads the latest state. */
  readonly revision?: number | undefined
  readonly sort?: { readonly by: SortTarget; readonly descending?: boolean } | undefined
  /** Lets the member respond from its own state, which may be outdated, without a quorum. */
  readonly serializable?: boolean | undefined
  readonly keysOnly?: boolean | undefined
  readonly countOnly?: boolean | undefined
  readonly minModRevision?: number | undefined
  readonly maxModRevision?: number | undefined
  readonly minCreateRevision?: number | undefined
  readonly maxCreateRevision?: number | undefined
}

export type PutRequest = {
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly lease?: bigint | undefined
  readonly prevKv?: boolean | undefined
  /** If true, etcd keeps the current value and changes only the lease. */
  readonly ignoreValue?: boolean | undefined
  /** If true, etcd keeps the current lease and changes only the value. */
  readonly ignoreLease?: boolean | undefined
}

export type DeleteRangeRequest = {
  readonly key: Uint8Array
  readonly rangeEnd?: Uint8Array | undefined
  readonly prevKv?: boolean | undefined
}

export type Compare = {
  readonly key: Uint8Array
  /** If present, the comparison must hold for all keys of the range. */
  readonly rangeEnd?: Uint8Array | undefined
  readonly result: '=' | '>' | '<' | '!='
} & (
  | { readonly target: 'version' | 'create' | 'mod'; readonly value: number }
  | { readonly target: 'value'; readonly value: Uint8Array }
  | { readonly target: 'lease'; readonly value: bigint }
)

export type Op =
  | ({ readonly type: 'range' } & RangeRequest)
  | ({ readonly type: 'put' } & PutRequest)
  | ({ readonly type: 'delete' } & DeleteRangeRequest)
  | ({ readonly type: 'txn' } & TxnRequest)

export type TxnRequest = {
  readonly compare: readonly Compare[]
  readonly success: readonly Op[]
  readonly failure: readonly Op[]
}

export type CompactRequest = {
  readonly revision: number
  /**
   * Delays the response until etcd has freed the space. By default, etcd responds as soon as the
   * history cannot be read any more.
   */
  readonly physical?: boolean | undefined
}

/**
 * Maximum nesting of transactions. etcd processes nested transactions recursively, and no caller
 * needs deeper ones.
 */
const TXN_DEPTH_MAX = 8

export function encodeRange(request: RangeRequest): Buffer {
  const writer = new WireWriter(request.key.length + (request.rangeEnd?.length ?? 0))
  writeRange(writer, request)
  return writer.frame()
}

export function encodePut(request: PutRequest): Buffer {
  const writer = new WireWriter(request.key.length + request.value.length)
  writePut(writer, request)
  return writer.frame()
}

export function encodeDeleteRange(request: DeleteRangeRequest): Buffer {
  const writer = new WireWriter(request.key.length + (request.rangeEnd?.length ?? 0))
  writeDeleteRange(writer, request)
  return writer.frame()
}

export function encodeTxn(request: TxnRequest): Buffer {
  const writer = new WireWriter(contentBytes(request))
  writeTxn(writer, request, 1)
  return writer.frame()
}

export function encodeCompact(request: CompactRequest): Buffer {
  const writer = new WireWriter(0)
  writer.bool(2, request.physical)
  writer.number(1, request.revision)
  return writer.frame()
}

const sortTargets: Readonly<Record<SortTarget, number>> = {
  key: 0,
  version: 1,
  create: 2,
  mod: 3,
  value: 4,
}

function writeRange(writer: WireWriter, request: RangeRequest): void {
  writer.number(13, request.maxCreateRevision)
  writer.number(12, request.minCreateRevision)
  writer.number(11, request.maxModRevision)
  writer.number(10, request.minModRevision)
  writer.bool(9, request.countOnly)
  writer.bool(8, request.keysOnly)
  writer.bool(7, request.serializable)
  if (request.sort !== undefined) {
    writer.number(6, sortTargets[request.sort.by])
    writer.number(5, request.sort.descending === true ? 2 : 1)
  }
  writer.number(4, request.revision)
  writer.number(3, request.limit)
  writer.bytes(2, request.rangeEnd)
  writer.bytes(1, request.key)
}

function writePut(writer: WireWriter, request: PutRequest): void {
  writer.bool(6, request.ignoreLease)
  writer.bool(5, request.ignoreValue)
  writer.bool(4, request.prevKv)
  writer.id(3, request.lease)
  writer.bytes(2, request.value)
  writer.bytes(1, request.key)
}

function writeDeleteRange(writer: WireWriter, request: DeleteRangeRequest): void {
  writer.bool(3, request.prevKv)
  writer.bytes(2, request.rangeEnd)
  writer.bytes(1, request.key)
}

function writeTxn(writer: WireWriter, request: TxnRequest, depth: number): void {
  if (depth > TXN_DEPTH_MAX)
    throw new GrpcError('InvalidArgument', `a txn is nested deeper than ${TXN_DEPTH_MAX}`)
  writeOps(writer, 3, request.failure, depth)
  writeOps(writer, 2, request.success, depth)
  for (let index = request.compare.length - 1; index >= 0; index--) {
    const compare = request.compare[index]
    if (compare === undefined) continue
    const mark = writer.length
    writeCompare(writer, compare)
    writer.nested(1, mark)
  }
}

function writeOps(writer: WireWriter, field: number, ops: readonly Op[], depth: number): void {
  for (let index = ops.length - 1; index >= 0; index--) {
    const op = ops[index]
    if (op === undefined) continue
    const mark = writer.length
    writeOp(writer, op, depth)
    writer.nested(field, mark)
  }
}

function writeOp(writer: WireWriter, op: Op, depth: number): void {
  const mark = writer.length
  switch (op.type) {
    case 'range':
      writeRange(writer, op)
      return writer.nested(1, mark)
    case 'put':
      writePut(writer, op)
      return writer.nested(2, mark)
    case 'delete':
      writeDeleteRange(writer, op)
      return writer.nested(3, mark)
    case 'txn':
      writeTxn(writer, op, depth + 1)
      return writer.nested(4, mark)
  }
}

const compareResults: Readonly<Record<Compare['result'], number>> = {
  '=': 0,
  '>': 1,
  '<': 2,
  '!=': 3,
}
const compareTargets: Readonly<Record<Compare['target'], number>> = {
  version: 0,
  create: 1,
  mod: 2,
  value: 3,
  lease: 4,
}

function writeCompare(writer: WireWriter, compare: Compare): void {
  writer.bytes(64, compare.rangeEnd)
  const target = compareTargets[compare.target]
  const field = target + 4
  if (compare.target === 'value') writer.bytes(field, compare.value)
  else if (compare.target === 'lease') writer.id(field, compare.value)
  else writer.number(field, compare.value)
  writer.bytes(3, compare.key)
  writer.number(2, target)
  writer.number(1, compareResults[compare.result])
}

/**
 * Estimated size of an operation or a comparison, excluding its key and value: tags, lengths and
 * some numbers. The writer grows if necessary.
 */
const OP_SPARE_BYTES = 48

function contentBytes(request: TxnRequest): number {
  let bytes = 0
  for (const compare of request.compare) {
    bytes +=
      compare.key.length + OP_SPARE_BYTES + (compare.target === 'value' ? compare.value.length : 0)
  }
  for (const ops of [request.success, request.failure]) {
    for (const op of ops) {
      if (op.type === 'txn') continue
      bytes +=
        op.key.length +
        OP_SPARE_BYTES +
        (op.type === 'put' ? op.value.length : (op.rangeEnd?.length ?? 0))
    }
  }
  return bytes
}
