import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { WireReader } from './reader.ts'
import { WireWriter } from './writer.ts'

const message = (writer: WireWriter): Buffer => {
  const frame = writer.frame()
  equal(frame[0], 0)
  equal(frame.readUInt32BE(1), frame.length - 5)
  return frame.subarray(5)
}

test('numbers, IDs, bytes and nested messages can be written and read back', () => {
  fc.assert(
    fc.property(
      fc.maxSafeNat(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.uint8Array({ maxLength: 400 }),
      fc.integer({ min: 1, max: 2 ** 20 }),
      (number, id, bytes, field) => {
        const writer = new WireWriter(0)
        const mark = writer.length
        writer.bytes(field, bytes)
        writer.nested(4, mark)
        writer.id(3, id)
        writer.number(2, number)
        const reader = new WireReader(message(writer))
        let readNumber = 0
        let readId = 0n
        let readBytes: Uint8Array = new Uint8Array()
        while (reader.more()) {
          const tag = reader.tag()
          if (tag >> 3 === 2) readNumber = reader.number()
          else if (tag >> 3 === 3) readId = reader.id()
          else {
            const outer = reader.enter()
            while (reader.more()) {
              equal(reader.tag() >>> 3, field)
              readBytes = reader.bytes()
            }
            reader.leave(outer)
          }
        }
        equal(readNumber, number)
        equal(readId, id)
        deepEqual(Buffer.from(readBytes), Buffer.from(bytes))
      },
    ),
  )
})

test('each kind of number is written as the expected protobuf bytes', () => {
  const writer = new WireWriter(0)
  writer.number(1, 300)
  deepEqual([...message(writer)], [0x08, 0xac, 0x02])
})

test('a negative number is rejected, and so is a number that JavaScript cannot represent exactly', () => {
  for (const value of [-1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
    throws(() => new WireWriter(0).number(1, value), { name: 'GrpcError', code: 'InvalidArgument' })
  }
})

test('the write buffer grows for a message that is far longer than expected', () => {
  const writer = new WireWriter(0)
  for (let index = 0; index < 1000; index++) writer.string(1, `part ${index}`)
  const reader = new WireReader(message(writer))
  for (let index = 999; index >= 0; index--) {
    reader.tag()
    equal(reader.string(), `part ${index}`)
  }
  equal(reader.more(), false)
})
