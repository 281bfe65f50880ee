import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RetryAfter } from './retry-after.ts'

/**
 * Returns the delays that clients get. Each argument is the number of rejections within a second.
 */
function retryAfterOf(...perSecond: readonly number[]): number[] {
  const retryAfter = new RetryAfter()
  return perSecond.map((refusals, at) => {
    let seconds = 0
    for (let count = 0; count < refusals; count++)
      seconds = retryAfter.refuse((1_000_000 + at) * 1000 + count)
    return seconds
  })
}

test('the retry delay is one second while few requests are rejected', () => {
  assert.deepEqual(retryAfterOf(1, 1, 1, 2, 2), [1, 1, 1, 1, 1])
})

test('the retry delay doubles while many requests are rejected, up to 32 seconds, but only once for a single spike', () => {
  assert.deepEqual(retryAfterOf(5, 5, 5, 5, 5), [1, 2, 2, 4, 4])
  assert.equal(Math.max(...retryAfterOf(...Array.from({ length: 200 }, () => 200))), 32)
})

test('the retry delay decreases by one second at a time', () => {
  const seconds = retryAfterOf(9, 9, 9, 9, 9, 0, 0, 0, 0, 0, 1, 1, 1, 1)
  assert.deepEqual(seconds.slice(-4), [3, 2, 2, 2])
})
