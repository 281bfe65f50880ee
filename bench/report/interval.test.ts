import assert from 'node:assert/strict'
import { test } from 'node:test'
import { median, medianInterval } from './interval.ts'

test('the median of an even number of values lies between the two in the middle', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(median([3, 1, 2]), 2)
  assert.ok(Number.isNaN(median([])))
})

test('the confidence interval of a few values spans all of them, and that of many values is narrower', () => {
  assert.deepEqual(medianInterval([3, 1, 2]), { value: 2, low: 1, high: 3 })
  const many = Array.from({ length: 100 }, (_, at) => at)
  assert.deepEqual(medianInterval(many), { value: 49.5, low: 40, high: 59 })
})
