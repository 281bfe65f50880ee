import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { indentJson, JsonIndenter } from './indent.ts'

test('indented like JSON.stringify does it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(indentJson(JSON.stringify(value)), JSON.stringify(value, null, 2))
    }),
  )
})

test('the newline at the end goes, digits stay', () => {
  assert.equal(
    indentJson('{"a":12345678901234567890,"b":[],"c":{}}\n'),
    '{\n  "a": 12345678901234567890,\n  "b": [],\n  "c": {}\n}',
  )
})

test('a part of a document', () => {
  const part = JSON.stringify({ a: [1] })
  assert.equal(`{\n  "x": ${indentJson(part, 1)}\n}`, JSON.stringify({ x: { a: [1] } }, null, 2))
})

test('the pieces together are the whole, of whatever size they are', () => {
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
