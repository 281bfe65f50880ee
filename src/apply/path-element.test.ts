import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareElements } from './path-element.ts'

test('numbers are ordered by their values, however long', () => {
  const sorted = ['v:9', 'v:10', 'v:9007199254740993', 'v:10000000000000000', 'v:1e300']
  assert.deepEqual(sorted.toReversed().toSorted(compareElements), sorted)
  const keys = ['k:{"id":9}', 'k:{"id":9007199254740993}', 'k:{"id":10000000000000000}']
  assert.deepEqual(keys.toReversed().toSorted(compareElements), keys)
})
