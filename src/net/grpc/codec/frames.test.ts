import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cpuMsOf } from '../../../../test/support/harness/turns.ts'
import { MessageFrames, MESSAGE_BYTES_MAX } from './frames.ts'

function framed(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(5 + message.length)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, 5)
  return frame
}

test('gRPC messages are reassembled, no matter where their bytes are split into chunks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 20 }),
      (messages, cuts) => {
        const bytes = Buffer.concat(messages.map(framed))
        const received: Buffer[] = []
        const reader = new MessageFrames((message) => received.push(Buffer.from(message)))
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const length = cuts[turn % cuts.length] ?? 1
          reader.push(bytes.subarray(at, at + length))
          at += length
        }
        equal(reader.isPartial, false)
        deepEqual(
          received,
          messages.map((message) => Buffer.from(message)),
        )
      },
    ),
  )
})

test('a gRPC message that is contained in one chunk is not copied', () => {
  const chunk = framed(Buffer.from('hello'))
  let received: Buffer | undefined
  new MessageFrames((message) => {
    received = message
  }).push(chunk)
  equal(received?.buffer, chunk.buffer)
  equal(received?.toString(), 'hello')
})

test('isPartial is true until the last byte of a gRPC message arrives', () => {
  const reader = new MessageFrames(() => undefined)
  reader.push(Buffer.from([0, 0]))
  equal(reader.isPartial, true)
  reader.push(Buffer.from([0, 0, 2, 9]))
  equal(reader.isPartial, true)
  reader.push(Buffer.from([9]))
  equal(reader.isPartial, false)
})

test('a gRPC message is rejected if it is compressed or exceeds the size limit', () => {
  throws(() => new MessageFrames(() => undefined).push(Buffer.from([1, 0, 0, 0, 0])), {
    name: 'GrpcError',
    code: 'Internal',
  })
  const head = Buffer.alloc(5)
  head.writeUInt32BE(MESSAGE_BYTES_MAX + 1, 1)
  throws(() => new MessageFrames(() => undefined).push(head), {
    name: 'GrpcError',
    code: 'ResourceExhausted',
  })
})

test('a long gRPC message in many chunks is copied only once', () => {
  const message = Buffer.alloc(8 * 1024 * 1024, 7)
  const bytes = framed(message)
  let received = 0
  const reader = new MessageFrames((whole) => {
    received = whole.length
  })
  const tookMs = cpuMsOf(() => {
    for (let at = 0; at < bytes.length; at += 1024) reader.push(bytes.subarray(at, at + 1024))
  })
  equal(received, message.length)
  // If each of the 8,000 chunks copied all bytes received so far, the test would copy 32 GB, which
  // takes many seconds.
  equal(tookMs < 2000, true)
})
