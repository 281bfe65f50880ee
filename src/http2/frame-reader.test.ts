import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameReader } from './frame-reader.ts'

test('a frame that comes in pieces has memory of its own, not of the pool that sockets keep alive', () => {
  const sizes: number[] = []
  const reader = new FrameReader(false, ({ bytes, start, end }) => {
    sizes.push(end - start)
    assert.equal(bytes.buffer.byteLength, bytes.length)
  })
  const frame = Buffer.concat([Buffer.from([0, 0x40, 0, 0, 0, 0, 0, 0, 1]), Buffer.alloc(0x4000)])
  for (const cut of [3, 9, 5_000]) {
    reader.read(frame.subarray(0, cut))
    reader.read(frame.subarray(cut))
  }
  assert.deepEqual(sizes, [0x4000, 0x4000, 0x4000])
})
