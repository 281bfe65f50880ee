import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameMemory } from './frame-memory.ts'

const LARGE = 40 << 10

/**
 * Allocates the frames of one batch, as a watch does, and fills each frame with a different byte.
 */
function batch(memory: FrameMemory, sizes: readonly number[]): Buffer[] {
  memory.begin()
  return sizes.map((size, at) => memory.take(size).fill(at + 1))
}

const isWhole = (frame: Buffer, at: number): boolean => frame.every((byte) => byte === at + 1)

test('the frames of one batch never overlap in memory', () => {
  const memory = new FrameMemory()
  for (let round = 0; round < 4; round++) {
    const frames = batch(memory, [LARGE, 10, 2 * LARGE, 4 * LARGE, 300])
    assert.deepEqual(
      frames.map(({ length }) => length),
      [LARGE, 10, 2 * LARGE, 4 * LARGE, 300],
    )
    assert.ok(frames.every(isWhole))
  }
})

test('a later batch of frames reuses the memory of the previous batch', () => {
  const memory = new FrameMemory()
  batch(memory, [LARGE])
  const [second] = batch(memory, [LARGE])
  const [third] = batch(memory, [LARGE])
  assert.equal(third?.buffer, second?.buffer)
})

test('small batches of frames do not allocate a block of memory', () => {
  const memory = new FrameMemory()
  batch(memory, [2000, 2000])
  const [second] = batch(memory, [2000])
  const [third] = batch(memory, [2000])
  assert.ok(second !== undefined && third !== undefined)
  assert.ok(second.buffer !== third.buffer || second.byteOffset !== third.byteOffset)
})

test('the frames of the last batch remain unchanged after FrameMemory.release', () => {
  const memory = new FrameMemory()
  batch(memory, [LARGE])
  const last = batch(memory, [LARGE, LARGE])
  memory.release()
  const next = batch(memory, [LARGE, LARGE])
  next.forEach((frame) => frame.fill(9))
  batch(memory, [LARGE]).forEach((frame) => frame.fill(9))
  assert.ok(last.every(isWhole))
})
