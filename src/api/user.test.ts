import assert from 'node:assert/strict'
import { test } from 'node:test'
import { distinctGroups } from './user.ts'

test('repeated groups are dropped, and the others keep their order', () => {
  assert.deepEqual(distinctGroups(['b', 'a', 'b', 'c', 'a']), ['b', 'a', 'c'])
  const groups = ['b', 'a']
  assert.equal(distinctGroups(groups), groups)
  assert.deepEqual(distinctGroups([]), [])
})

test('a group that is repeated a million times takes linear time', () => {
  assert.deepEqual(distinctGroups(Array.from({ length: 1_000_000 }, () => 'a')), ['a'])
})
