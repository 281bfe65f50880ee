import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationText } from './table.ts'

const cases: readonly (readonly [number, string])[] = [
  [-5, '<invalid>'],
  [-1, '0s'],
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [125, '2m5s'],
  [599, '9m59s'],
  [600, '10m'],
  [10_799, '179m'],
  [11_100, '3h5m'],
  [28_800, '8h'],
  [172_799, '47h'],
  [180_000, '2d2h'],
  [691_200, '8d'],
  [63_071_999, '729d'],
  [70_000_000, '2y80d'],
  [252_288_000, '8y'],
]

test('durations are formatted with at most two units', () => {
  for (const [seconds, text] of cases)
    assert.equal(durationText(seconds * 1000), text, `${seconds} s`)
})
