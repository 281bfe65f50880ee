import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RetryAfter } from './retry-after.ts'

/** What is told after so many refusals in each of the seconds. */
function retryAfterOf(...perSecond: readonly number[]): number[] {
  const retryAfter = new RetryAfter()
  return perSecond.map((refusals, at) => {
    let seconds = 0
    for (let count = 0; count < refusals; count++)
      seconds = retryAfter.refuse((1_000_000 + at) * 1000 + count)
    return seconds
  })
}

test('one second, as long as few are refused', () => {
  assert.deepEqual(retryAfterOf(1, 1, 1, 2, 2), [1, 1, 1, 1, 1])
})

test('it doubles while many are refused, not twice for one spike, up to 32 seconds', () => {
  assert.deepEqual(retryAfterOf(5, 5, 5, 5, 5), [1, 2, 2, 4, 4])
  assert.equal(Math.max(...retryAfterOf(...Array.from({ length: 200 }, () => 200))), 32)
})

test('it shrinks by a second at a time', () => {
  const seconds = retryAfterOf(9, 9, 9, 9, 9, 0, 0, 0, 0, 0, 1, 1, 1, 1)
  assert.deepEqual(seconds.slice(-4), [3, 2, 2, 2])
})
