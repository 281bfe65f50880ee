import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameReader } from './frame-reader.ts'

test("a frame that arrives in pieces gets its own memory, and does not use Node's buffer pool", () => {
  const sizes: number[] = []
  const reader = new FrameReader(false, ({ bytes, start, end }) => {
    sizes.push(end - start)
    assert.equal(bytes.buffer.byteLength, bytes.length)
  })
  const frame = Buffer.concat([Buffer.from([0, 0x40, 0, 1, 0, 0, 0, 0, 1]), Buffer.alloc(0x4000)])
  for (const cut of [3, 9, 5_000]) {
    reader.read(frame.subarray(0, cut))
    reader.read(frame.subarray(cut))
  }
  assert.deepEqual(sizes, [0x4000, 0x4000, 0x4000])
})

test('DATA that arrives in pieces is delivered in pieces, with END_STREAM on the last one', () => {
  const payload = Buffer.from(Array.from({ length: 3_000 }, (_, at) => at % 251))
  const ping = Buffer.alloc(8, 'p')
  const padded = Buffer.concat([Buffer.from([1]), payload, Buffer.alloc(1)])
  const all = Buffer.concat([
    frameOf(0, 1, 1, payload),
    frameOf(6, 0, 0, ping),
    frameOf(0, 8, 3, padded),
    frameOf(0, 1, 5, payload),
  ])
  for (const size of [1, 7, 100, 600, 1_000, 2_999, 3_009, 20_000]) {
    const reported = new Map<number, Buffer[]>()
    const ends: number[] = []
    const reader = new FrameReader(false, ({ type, flags, stream, bytes, start, end }) => {
      // Copies the payload, because the memory of the chunk is reused.
      reported.set(stream, [
        ...(reported.get(stream) ?? []),
        Buffer.from(bytes.subarray(start, end)),
      ])
      if (type === 0 && (flags & 1) !== 0) ends.push(stream)
    })
    const shared = Buffer.alloc(size)
    for (let at = 0; at < all.length; at += size)
      reader.read(shared.subarray(0, all.copy(shared, 0, at, at + size)))
    const whole = (stream: number): Buffer => Buffer.concat(reported.get(stream) ?? [])
    assert.ok(whole(1).equals(payload), `pieces of ${size}`)
    assert.ok(
      whole(0).equals(ping) && whole(3).equals(padded) && whole(5).equals(payload),
      `pieces of ${size}`,
    )
    assert.deepEqual(ends, [1, 5])
    // Padded DATA arrives as one piece, because only a complete frame shows where its padding
    // begins.
    assert.equal(reported.get(3)?.length, 1)
  }
})

function frameOf(type: number, flags: number, stream: number, bytes: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(bytes.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, bytes])
}
