import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GrowingBuffer } from './growing-buffer.ts'

test('chunks of any size are joined, and `take` empties the buffer', () => {
  const bytes = new GrowingBuffer()
  assert.equal(bytes.take().length, 0)
  const pieces = ['', 'a', 'bc', 'd'.repeat(5000), 'e'].map((text) => Buffer.from(text))
  for (const piece of pieces) bytes.append(piece)
  assert.equal(bytes.length, 5004)
  assert.deepEqual(bytes.take(), Buffer.concat(pieces))
  bytes.append(Buffer.from('x'))
  assert.equal(bytes.take().toString(), 'x')
})

test('a chunk that fills at least half of its underlying memory is not copied, and a smaller chunk is copied', () => {
  const chunk = Buffer.allocUnsafeSlow(1000).fill('x')
  const bytes = new GrowingBuffer()
  bytes.append(chunk)
  assert.equal(bytes.take().buffer, chunk.buffer)
  bytes.append(chunk.subarray(0, 100))
  assert.notEqual(bytes.take().buffer, chunk.buffer)
})

test('a chunk that was appended is never written to', () => {
  const first = Buffer.allocUnsafeSlow(10).fill('x')
  const bytes = new GrowingBuffer()
  bytes.append(first.subarray(0, 6))
  bytes.append(Buffer.from('yyyy'))
  assert.equal(bytes.take().toString(), 'xxxxxxyyyy')
  assert.equal(first.toString(), 'xxxxxxxxxx')
})
