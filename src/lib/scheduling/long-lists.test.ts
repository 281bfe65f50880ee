import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../../test/support/harness/turns.ts'
import { repeatsIn } from './long-lists.ts'

test('the indexes of items that occur earlier in the list are found', () => {
  assert.deepEqual([...repeatsIn(['a', 'b', 'a', 'c', 'b', 'a'])], [2, 4, 5])
})

test('only the first repeats in a long list of equal items are found', () => {
  const list = Array.from({ length: 1_000_000 }, () => '')
  let found = 0
  const ms = cpuMsOf(() => void (found = repeatsIn(list).size))
  assert.equal(found, 10_000)
  assert.ok(ms < 50, `${ms} ms`)
})
