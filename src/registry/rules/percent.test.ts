import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atMostHundredPercent, countOrPercent, isNone } from './percent.ts'
import { all, faultsOf } from './rule.ts'

const messages = (value: string | number): string[] =>
  faultsOf(all(countOrPercent, atMostHundredPercent), value, 'n').map(({ message }) => message)

test('countOrPercent accepts non-negative numbers and percentages', () => {
  for (const value of [0, 3, '0%', '25%', '100%']) assert.deepEqual(messages(value), [])
  assert.deepEqual(messages(-1), ['Invalid value: -1: must be greater than or equal to 0'])
  assert.deepEqual(messages('101%'), [
    'Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%',
  ])
  for (const value of ['', '10', '-1%', 'ten%']) assert.equal(messages(value).length, 1)
})

test('isNone treats text that is not a number as zero', () => {
  for (const value of [0, '0%', '', 'ten%', '-1%']) assert.equal(isNone(value), true)
  for (const value of [1, -1, '1%', '10']) assert.equal(isNone(value), false)
})
