import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SendingStream } from './sending-stream.ts'

test('what a slow client is still to get is not copied', () => {
  const stream = new SendingStream(1, 0, () => undefined)
  const shared = [Buffer.alloc(128 * 1024), Buffer.alloc(128 * 1024)]
  assert.equal(
    stream.write(shared, () => undefined),
    false,
  )
  assert.equal(stream.leftBytes, 256 * 1024)
  // Whoever shares it sees the same bytes, and so does who is sent them only now.
  shared[0]?.fill(1, 0, 10)
  const sent = Buffer.alloc(10)
  stream.copy(sent, 0, 10)
  assert.deepEqual(sent, Buffer.alloc(10, 1))
})
