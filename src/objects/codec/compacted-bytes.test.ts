import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compacted } from './json.ts'
import { compactedBytes } from './compacted-bytes.ts'

const text = fc.string({
  unit: fc.constantFrom(
    '<',
    '>',
    '&',
    '\u2028',
    '\u2029',
    '"',
    '\\',
    ' ',
    '\n',
    'a',
    'â',
    '€',
    '😀',
  ),
})

test('compacting JSON byte by byte has the same result as compacting it token by token', () => {
  const value = fc.jsonValue({ stringUnit: 'grapheme' })
  fc.assert(
    fc.property(
      fc.oneof(value, text, fc.array(text), fc.dictionary(text, text)),
      fc.nat(4),
      (one, indent) => {
        const json = JSON.stringify(one, null, indent)
        assert.equal(compactedBytes(Buffer.from(json)).toString(), compacted(json))
      },
    ),
  )
})

test('a long JSON text is compacted in the same way as a short one', () => {
  const part = '"<a>\u2028 \\" b"'
  const long = `[ ${Array<string>(5_000).fill(part).join(' ,\n')} ]`
  assert.equal(compacted(long), `[${Array<string>(5_000).fill(compacted(part)).join(',')}]`)
})
