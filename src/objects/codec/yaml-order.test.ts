import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSteps } from '../../../test/support/harness/turns.ts'
import { compareNatural, sortNatural } from './yaml-order.ts'

test('the keys of printed YAML are compared in natural order', () => {
  const pairs = [
    ['', 'a'],
    ['-', 'a'],
    ['1', '01'],
    ['2', '10'],
    ['10', '9223372036854775807'],
    ['9223372036854775807', 'A'],
    // This number is negative if it is read as a signed 64-bit integer.
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

test('sorting does not lose any keys, although the order of some keys is not transitive', () => {
  const cycle = ['2', '120', '1a'] as const
  for (const [at, key] of cycle.entries())
    assert.ok(compareNatural(key, cycle[(at + 1) % 3] ?? '') < 0)
  const keys = Array.from({ length: 1000 }, (_, at) => `${at}${at % 3 === 0 ? 'a' : ''}`)
  assert.deepEqual(allSteps(sortNatural(keys)).toSorted(), keys.toSorted())
})
