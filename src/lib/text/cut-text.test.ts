import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutBeginning, cutText, QUOTED_CHARACTERS_MAX } from './cut-text.ts'

test('a text of the maximum length is not changed, and a longer text is truncated and marked as truncated', () => {
  const longest = 'x'.repeat(QUOTED_CHARACTERS_MAX)
  assert.equal(cutText(longest), longest)
  assert.equal(cutText(`${longest}yz`), `${longest}... (2 more characters)`)
  assert.equal(cutText('abc', 1, JSON.stringify), '"a"... (2 more characters)')
})

test('a text whose end may be missing is cut without the number of missing characters', () => {
  const longest = 'x'.repeat(QUOTED_CHARACTERS_MAX)
  assert.equal(cutBeginning(longest), longest)
  assert.equal(cutBeginning(`${longest}yz`), `${longest}... (more characters)`)
})
