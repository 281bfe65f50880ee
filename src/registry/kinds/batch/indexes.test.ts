import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overlapOf, parseIndexes } from './indexes.ts'

const faultOf = (text: string): string | undefined => {
  const indexes = parseIndexes(text, 5)
  return 'fault' in indexes ? indexes.fault : undefined
}

test('the indexes of a Job must be in ascending order, and less than the number of completions', () => {
  assert.deepEqual(parseIndexes('0,2-4', 5), {
    ranges: [
      [0, 0],
      [2, 4],
    ],
    count: 4,
  })
  assert.deepEqual(parseIndexes('', 5), { ranges: [], count: 0 })
  assert.equal(faultOf('0-5'), 'too large index: "5"')
  assert.equal(faultOf('1-3,2'), 'non-increasing order, previous: 3, current: 2')
  assert.equal(faultOf('1-1'), 'non-increasing order, previous: 1, current: 1')
  assert.equal(faultOf('0,,1'), 'cannot convert string to integer for index: ""')
})

test('overlapOf returns the first index that two sets of indexes share', () => {
  const [one, other] = [parseIndexes('0-2', 5), parseIndexes('2-3', 5)]
  assert.ok(!('fault' in one) && !('fault' in other))
  assert.equal(overlapOf(one, other), 2)
  assert.equal(overlapOf(one, { ranges: [[3, 4]], count: 2 }), undefined)
})
