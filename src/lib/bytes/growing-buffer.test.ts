import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GrowingBuffer } from './growing-buffer.ts'

test('pieces of any size become one, and the next begins anew', () => {
  const bytes = new GrowingBuffer()
  assert.equal(bytes.take().length, 0)
  const pieces = ['', 'a', 'bc', 'd'.repeat(5000), 'e'].map((text) => Buffer.from(text))
  for (const piece of pieces) bytes.append(piece)
  assert.equal(bytes.length, 5004)
  assert.deepEqual(bytes.take(), Buffer.concat(pieces))
  bytes.append(Buffer.from('x'))
  assert.equal(bytes.take().toString(), 'x')
})

test('a whole chunk is kept as it is, a small part of one is not', () => {
  const chunk = Buffer.allocUnsafeSlow(1000).fill('x')
  const bytes = new GrowingBuffer()
  bytes.append(chunk)
  assert.equal(bytes.take().buffer, chunk.buffer)
  bytes.append(chunk.subarray(0, 100))
  assert.notEqual(bytes.take().buffer, chunk.buffer)
})

test('what was given is not written to', () => {
  const first = Buffer.allocUnsafeSlow(10).fill('x')
  const bytes = new GrowingBuffer()
  bytes.append(first.subarray(0, 6))
  bytes.append(Buffer.from('yyyy'))
  assert.equal(bytes.take().toString(), 'xxxxxxyyyy')
  assert.equal(first.toString(), 'xxxxxxxxxx')
})
