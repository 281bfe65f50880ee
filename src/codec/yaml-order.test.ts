import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareNatural } from './yaml-order.ts'

test('of two keys the one is first that people would put first', () => {
  const pairs = [
    ['', 'a'],
    ['-', 'a'],
    ['1', '01'],
    ['2', '10'],
    ['10', '9223372036854775807'],
    ['9223372036854775807', 'A'],
    // In 64 bits it is below zero.
    ['9223372036854775808', '1'],
    ['Z', 'a'],
    ['a-b', 'a1'],
    ['a2', 'a10'],
    ['a10', 'a10b'],
    ['a10', 'ab'],
    ['b', 'é'],
    ['字', '\u{20000}'],
    ['\u{20000}', '\u{20001}'],
    ['\u{20001}', '\u{20001}a'],
  ] as const
  for (const [one, other] of pairs) {
    assert.ok(compareNatural(one, other) < 0, `${one} ${other}`)
    assert.ok(compareNatural(other, one) > 0, `${other} ${one}`)
    assert.equal(compareNatural(one, one), 0)
  }
})
