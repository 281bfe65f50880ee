import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../../test/support/harness/turns.ts'
import { repeatsIn } from './long-lists.ts'

test('repeatsIn returns the indexes of items that occur earlier in the list', () => {
  assert.deepEqual([...repeatsIn(['a', 'b', 'a', 'c', 'b', 'a'])], [2, 4, 5])
})

test('repeatsIn returns a limited number of repeats for a long list of equal items', () => {
  const list = Array.from({ length: 1_000_000 }, () => '')
  let found = 0
  const ms = cpuMsOf(() => void (found = repeatsIn(list).size))
  assert.equal(found, 10_000)
  assert.ok(ms < 50, `${ms} ms`)
})
