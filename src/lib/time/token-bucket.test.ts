import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenBucket } from './token-bucket.ts'

test('a token bucket allows a burst immediately, and then allows tokens at its rate', () => {
  const bucket = new TokenBucket(3, 2, 0)
  const takes = (nowMs: number): boolean => bucket.take(nowMs)
  assert.deepEqual([takes(0), takes(0), takes(0), takes(0)], [true, true, true, false])
  assert.deepEqual([takes(499), takes(501), takes(502)], [false, true, false])
  assert.deepEqual(
    [1, 2, 3, 4].map(() => takes(1_000_000)),
    [true, true, true, false],
    'never more than the burst',
  )
})
