import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ByteText } from './byte-text.ts'

test('the bytes of a ByteText are the UTF-8 encoding of all appended pieces, however small its initial memory is', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ minLength: 1020, maxLength: 1030 }),
  )
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 64 }), fc.array(piece), (bytes, pieces) => {
      const text = new ByteText(bytes)
      for (const [at, one] of pieces.entries()) {
        if (at % 2 === 0) text.text(one)
        else text.append(Buffer.from(one))
      }
      assert.deepEqual(text.bytes, Buffer.from(pieces.join('')))
    }),
  )
})

test('numbers are padded with zeros to a minimum number of digits', () => {
  const text = new ByteText(1)
  text.digits(42, 6)
  text.digits(1_234_567, 6)
  assert.equal(text.bytes.toString(), '000042234567')
})

test('the method `copy` appends a part of the same or another ByteText, and the methods `cut` and `clear` increase the counter `uses`', () => {
  const text = new ByteText(4)
  text.text('abcd')
  text.copy(text, 1, 3)
  const other = new ByteText(1)
  other.copy(text, 3, 6)
  assert.deepEqual([text.bytes.toString(), other.bytes.toString(), text.uses], ['abcdbc', 'dbc', 0])
  text.cut(2)
  assert.deepEqual([text.bytes.toString(), text.uses], ['ab', 1])
  text.clear()
  assert.deepEqual([text.length, text.uses], [0, 2])
})

test('a string is appended only if a given table allows all of its characters', () => {
  const listed = Uint8Array.from({ length: 128 }, (_, code) =>
    code >= 0x61 && code <= 0x7a ? 1 : 0,
  )
  const text = new ByteText(1)
  text.byte(0x2f)
  assert.equal(text.listed('abc', listed), true)
  for (const other of ['abC', 'ab\u00e9', 'ab\u4e2d', '\ud83d\ude00', 'ab\u0000']) {
    assert.equal(text.listed(other, listed), false)
    assert.equal(text.bytes.toString(), '/abc')
  }
  assert.equal(text.listed('', listed), true)
  text.byte(0x2f)
  assert.equal(text.bytes.toString(), '/abc/')
})
