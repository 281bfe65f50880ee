import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { indentJson, JsonIndenter } from './indent.ts'

test('JSON is indented in the same way as by JSON.stringify', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(indentJson(JSON.stringify(value)), JSON.stringify(value, null, 2))
    }),
  )
})

test('indenting JSON drops a trailing newline and keeps all digits of numbers', () => {
  assert.equal(
    indentJson('{"a":12345678901234567890,"b":[],"c":{}}\n'),
    '{\n  "a": 12345678901234567890,\n  "b": [],\n  "c": {}\n}',
  )
})

test('a part of a document is indented according to its depth', () => {
  const part = JSON.stringify({ a: [1] })
  assert.equal(`{\n  "x": ${indentJson(part, 1)}\n}`, JSON.stringify({ x: { a: [1] } }, null, 2))
})

test('the buffers that a JsonIndenter fills add up to the whole indented text, whatever their size', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 40 }), (value, pieceBytes) => {
      const json = Buffer.from(`${JSON.stringify(value)}\n`)
      const indenter = new JsonIndenter(json)
      const piece = Buffer.alloc(pieceBytes)
      let text = ''
      for (let used = indenter.fill(piece); used > 0; used = indenter.fill(piece)) {
        text += piece.toString('latin1', 0, used)
        if (used < piece.length) break
      }
      assert.equal(Buffer.from(text, 'latin1').toString(), JSON.stringify(value, null, 2))
      assert.equal(new JsonIndenter(json).measure(), text.length)
    }),
  )
})
