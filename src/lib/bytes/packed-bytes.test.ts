import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PackedBytes } from './packed-bytes.ts'

test('packed byte strings share blocks of memory, and their contents do not change', () => {
  const packed = new PackedBytes()
  const texts = Array.from({ length: 3000 }, (_, at) => `"field-${at}":`)
  const pieces = texts.map((text) => packed.put(Buffer.from(text)))
  assert.deepEqual(pieces.map(String), texts)
  const bytes = texts.join('').length
  const held = [...new Set(pieces.map(({ buffer }) => buffer))].reduce(
    (sum, { byteLength }) => sum + byteLength,
    0,
  )
  assert.ok(held < bytes + (16 << 10) + 1000, `${held} bytes are held for ${bytes}`)
})

test('a packed byte string of any length is a copy of the given bytes', () => {
  const packed = new PackedBytes()
  const given = Buffer.from('given')
  const piece = packed.put(given)
  given.fill(0)
  const long = packed.put(Buffer.alloc(100_000, 'x'))
  assert.deepEqual(
    [piece.toString(), long.length, packed.put(Buffer.alloc(0)).length],
    ['given', 100_000, 0],
  )
})
