import assert from 'node:assert/strict'
import { test } from 'node:test'
import { marksWithList } from './framing.ts'

test('since 1.34, the mark of the end of the initial events contains no list', () => {
  assert.equal(marksWithList({ release: 33 }), true)
  assert.equal(marksWithList({ release: 34 }), false)
})
