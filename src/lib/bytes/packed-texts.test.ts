import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { atOnce } from '../scheduling/slices.ts'
import { halfSipHash, PackedTexts } from './packed-texts.ts'

const pack = (list: readonly string[]): PackedTexts => {
  const packed = atOnce(PackedTexts.of(list))
  assert.ok(packed)
  return packed
}

test('packed strings keep their order and duplicates, and each of them can be looked up', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 30 }),
      fc.string(),
      (list, other) => {
        const packed = pack(list)
        assert.deepEqual([...packed], list)
        assert.equal(packed.length, list.length)
        for (const text of list) assert.ok(packed.has(text))
        assert.equal(packed.has(other), list.includes(other))
      },
    ),
    { numRuns: 50 },
  )
})

test('strings with lone surrogates are not packed, and are not found', () => {
  assert.equal(atOnce(PackedTexts.of(['a', '\ud800'])), undefined)
  const packed = pack(['a', '\ufffd'])
  assert.ok(packed.has('\ufffd'))
  assert.ok(!packed.has('\ud800'))
})

test('the hash has the values of the reference implementation of HalfSipHash-2-4', () => {
  for (const [length, expected] of [0x5b9f35a9, 0xb85a4727, 0x03a662fa].entries()) {
    const bytes = Buffer.from(Array.from({ length }, (_, at) => at))
    assert.equal(halfSipHash(bytes, 0x03020100, 0x07060504), expected, `${length} bytes`)
  }
})

test('many strings are packed in steps', () => {
  const list = Array.from({ length: 100_000 }, (_, at) => `name-${at}`)
  let steps = 0
  for (const _ of PackedTexts.of(list)) steps++
  assert.ok(steps > 700, `${steps} steps`)
  const packed = pack(list)
  assert.ok(packed.has('name-99999'))
  assert.ok(!packed.has('name-100000'))
})
