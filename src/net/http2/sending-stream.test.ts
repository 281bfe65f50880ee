import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SendingStream } from './sending-stream.ts'

test('data that a slow client has not received is not copied', () => {
  const stream = new SendingStream(1, 0, () => undefined)
  const shared = [Buffer.alloc(128 * 1024), Buffer.alloc(128 * 1024)]
  assert.equal(
    stream.write(shared, () => undefined),
    false,
  )
  assert.equal(stream.leftBytes, 256 * 1024)
  // The memory of the responses. The test changes it after a write, to check that unsent data is
  // not changed with it.
  shared[0]?.fill(1, 0, 10)
  const sent = Buffer.alloc(10)
  stream.copy(sent, 0, 10)
  assert.deepEqual(sent, Buffer.alloc(10, 1))
})
