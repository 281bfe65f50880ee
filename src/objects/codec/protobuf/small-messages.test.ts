import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProtobufReader } from './reader.ts'
import { readMicroTime, readTime, writeTime } from './small-messages.ts'
import { ProtobufWriter } from '../../../lib/bytes/protobuf-writer.ts'

function message(time: string): Buffer {
  const writer = new ProtobufWriter()
  writeTime(time, writer)
  return writer.take()
}

test('in protobuf, a time is encoded as seconds and nanoseconds', () => {
  assert.deepEqual(message('1970-01-01T00:00:01Z'), Buffer.from([0x08, 1, 0x10, 0]))
  assert.deepEqual(message('1970-01-01T00:00:00.000002Z'), Buffer.from([0x08, 0, 0x10, 0xd0, 0x0f]))
  assert.deepEqual(message('0001-01-01T00:00:00Z'), Buffer.alloc(0))
})

test('a time that is encoded as protobuf decodes to the same time', () => {
  const days = [
    '0001-01-02',
    '0099-12-31',
    '0100-01-01',
    '1969-12-31',
    '2000-02-29',
    '2026-11-16',
    '9999-12-31',
  ]
  for (const day of days) {
    for (const clock of ['00:00:00', '09:08:07', '23:59:59']) {
      const time = `${day}T${clock}Z`
      assert.equal(readTime(new ProtobufReader(message(time))), time)
      const micro = `${day}T${clock}.012340Z`
      assert.equal(readMicroTime(new ProtobufReader(message(micro))), micro)
    }
  }
})
