import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InProgress } from './in-progress.ts'

test('waiters for a key are notified when its last operation finishes', () => {
  const inProgress = new InProgress()
  const calls: string[] = []
  const wait = (key: string): boolean => inProgress.onIdle(key, () => calls.push(key))
  assert.equal(wait('a'), false)
  inProgress.enter('a')
  inProgress.enter('a')
  inProgress.enter('b')
  assert.deepEqual([wait('a'), wait('a'), wait('b')], [true, true, true])
  inProgress.leave('a')
  assert.deepEqual(calls, [])
  inProgress.leave('a')
  assert.deepEqual(calls, ['a', 'a'])
  inProgress.enter('a')
  inProgress.leave('a')
  inProgress.leave('b')
  assert.deepEqual(calls, ['a', 'a', 'b'])
  assert.equal(wait('b'), false)
})
