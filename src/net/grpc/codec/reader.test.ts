import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GrpcError } from '../errors.ts'
import { readToken } from '../../../storage/etcd/codec/auth.ts'
import { readHeaderOnly } from '../../../storage/etcd/codec/header.ts'
import { encodeRange } from '../../../storage/etcd/codec/kv-request.ts'
import {
  readDeleteRange,
  readPut,
  readRange,
  readTxn,
} from '../../../storage/etcd/codec/kv-response.ts'
import { readLease, readLeaseStatus } from '../../../storage/etcd/codec/lease.ts'
import {
  readAlarms,
  readMembers,
  readSnapshotChunk,
  readStatus,
} from '../../../storage/etcd/codec/maintenance.ts'
import { MalformedMessage, NumberTooLarge, WireReader } from './reader.ts'
import { readWatch } from '../../../storage/etcd/codec/watch.ts'
import { WireWriter } from './writer.ts'

const readers: Readonly<Record<string, (reader: WireReader) => unknown>> = {
  readDeleteRange,
  readPut,
  readRange,
  readTxn,
  readWatch,
  readLease,
  readLeaseStatus,
  readAlarms,
  readMembers,
  readSnapshotChunk,
  readStatus,
  readToken,
  readHeaderOnly,
}

/**
 * Returns the result of `read`, or its error. Asserts that the error has one of the expected
 * classes.
 */
function readSafely(read: (reader: WireReader) => unknown, bytes: Buffer): unknown {
  try {
    return read(new WireReader(bytes))
  } catch (error) {
    ok(
      error instanceof MalformedMessage ||
        error instanceof NumberTooLarge ||
        error instanceof GrpcError,
      String(error),
    )
    return error
  }
}

/** Encodes a range response that has every field and an unknown one. */
function rangeAnswer(): Buffer {
  const writer = new WireWriter(0)
  writer.number(4, 12)
  writer.bool(3, true)
  for (const name of ['b', 'a']) {
    const mark = writer.length
    writer.id(6, -5n)
    writer.bytes(5, Buffer.from(`value of ${name}`))
    writer.number(4, 3)
    writer.number(3, 1_000_000_007)
    writer.number(2, Number.MAX_SAFE_INTEGER)
    writer.bytes(1, Buffer.from(name))
    writer.nested(2, mark)
  }
  const mark = writer.length
  writer.number(9, 1)
  writer.number(3, 77)
  writer.id(2, 2n ** 63n + 5n)
  writer.nested(1, mark)
  return writer.frame().subarray(5)
}

test('a range response is read completely, and unknown fields are skipped', () => {
  const answer = readRange(new WireReader(rangeAnswer()))
  equal(answer.revision, 77)
  equal(answer.more, true)
  equal(answer.count, 12)
  deepEqual(
    answer.kvs.map((kv) => [
      kv.key.toString(),
      kv.value.toString(),
      kv.createRevision,
      kv.modRevision,
      kv.lease,
    ]),
    ['a', 'b'].map((name) => [
      name,
      `value of ${name}`,
      Number.MAX_SAFE_INTEGER,
      1_000_000_007,
      -5n,
    ]),
  )
})

test('the keys and values of a range response are not copied out of the message', () => {
  const message = rangeAnswer()
  const [kv] = readRange(new WireReader(message)).kvs
  equal(kv?.value.buffer, message.buffer)
})

test('random bytes never crash a reader of protobuf messages, and never make it loop', () => {
  for (const [name, read] of Object.entries(readers)) {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        (bytes) => void readSafely(read, Buffer.from(bytes)),
      ),
      { numRuns: 300, ...(name === 'readTxn' && { numRuns: 1000 }) },
    )
  }
})

test('a truncated message causes an error or a shorter response, never a crash', () => {
  const message = rangeAnswer()
  for (let length = 0; length < message.length; length++) {
    for (const read of Object.values(readers)) readSafely(read, message.subarray(0, length))
  }
})

test('a message with one changed byte never crashes the reader', () => {
  const message = rangeAnswer()
  for (let at = 0; at < message.length; at++) {
    for (const byte of [0x00, 0x7f, 0x80, 0xff]) {
      const changed = Buffer.from(message)
      changed[at] = byte
      for (const read of Object.values(readers)) readSafely(read, changed)
    }
  }
})

test('the reader never reads beyond the end of its message', () => {
  const bytes = Buffer.from([0x12, 0x05, 1, 2, 3, 4, 5, 6, 7])
  throws(() => readToken(new WireReader(bytes.subarray(0, 5))), MalformedMessage)
})

test('a revision of 2^53 or more is rejected instead of rounded', () => {
  for (const [revision, isHeld] of [
    [2n ** 53n - 1n, true],
    [2n ** 53n, false],
    [2n ** 53n + 1n, false],
    [2n ** 63n - 1n, false],
  ] as const) {
    const writer = new WireWriter(0)
    const mark = writer.length
    writer.id(3, revision)
    writer.nested(1, mark)
    const message = writer.frame().subarray(5)
    if (isHeld) equal(readHeaderOnly(new WireReader(message)).revision, Number(revision))
    else throws(() => readHeaderOnly(new WireReader(message)), NumberTooLarge)
  }
})

test('a protobuf message is malformed if it has a varint of more than ten bytes, a group or the field number 0', () => {
  for (const bytes of [[0x08, ...Array(11).fill(0x80), 0], [0x0b], [0x00, 0x00], [0x0f]]) {
    throws(() => readLease(new WireReader(Buffer.from(bytes))), MalformedMessage)
  }
})

test('a deeply nested txn response is reported as malformed and does not overflow the stack', () => {
  let message: Buffer = Buffer.from([0x10, 0x01])
  for (let depth = 0; depth < 5000; depth++) {
    const writer = new WireWriter(message.length)
    const mark = writer.length
    writer.bytes(4, message)
    writer.nested(3, mark)
    message = writer.frame().subarray(5)
  }
  throws(() => readTxn(new WireReader(message)), MalformedMessage)
})

test('watch ID -1 is decoded as -1', () => {
  const writer = new WireWriter(0)
  writer.id(2, -1n)
  equal(readWatch(new WireReader(writer.frame().subarray(5))).watchId, -1)
})

test('a request whose fields are all zero is an empty message', () => {
  equal(encodeRange({ key: Buffer.alloc(0), limit: 0, serializable: false }).length, 5)
})
