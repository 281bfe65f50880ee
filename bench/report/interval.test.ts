import assert from 'node:assert/strict'
import { test } from 'node:test'
import { median, medianInterval } from './interval.ts'

test('the median of an even number of values is the mean of the two middle values', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(median([3, 1, 2]), 2)
  assert.ok(Number.isNaN(median([])))
})

test('the confidence interval of the median spans all of three values, but only the middle part of 100 values', () => {
  assert.deepEqual(medianInterval([3, 1, 2]), { value: 2, low: 1, high: 3 })
  const many = Array.from({ length: 100 }, (_, at) => at)
  assert.deepEqual(medianInterval(many), { value: 49.5, low: 40, high: 59 })
})
