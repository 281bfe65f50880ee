import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalQuantity, roundToMilli } from './quantity.ts'

const forms: readonly (readonly [string, string])[] = [
  ['1', '1'],
  [' 1 ', '1'],
  ['+1', '+1'],
  ['-1', '-1'],
  ['00012', '00012'],
  ['5.', '5.'],
  ['.5', '500m'],
  ['0.5', '500m'],
  ['0', '0'],
  ['1000', '1k'],
  ['1000m', '1'],
  ['1024', '1024'],
  ['1024Ki', '1Mi'],
  ['1.5Gi', '1536Mi'],
  ['0.1Ki', '102400m'],
  ['1e3', '1e3'],
  ['1E3', '1E3'],
  ['12e6', '12e6'],
  ['1e19', '10e18'],
  ['1E-1', '100e-3'],
  ['1E', '1E'],
  ['1Ei', '1Ei'],
  ['1n', '1n'],
  ['0.1m', '100u'],
  ['9223372036854775808', '9223372036854775808'],
  ['123456789012345678901234567890', '123456789012345678901234567890'],
]
test('quantities are formatted in canonical form', () => {
  for (const [given, text] of forms) assert.deepEqual(canonicalQuantity(given), { text }, given)
})

test('a string that is not a quantity is rejected', () => {
  const fault =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  for (const given of ['', 'abc', '1Xi', 'true', '{}', '1.2.3'])
    assert.deepEqual(canonicalQuantity(given), { fault }, given)
  for (const given of ['1K', '1e', '1mi']) {
    assert.deepEqual(
      canonicalQuantity(given),
      { fault: "unable to parse quantity's suffix" },
      given,
    )
  }
})

test('quantities in resource lists are rounded up to a multiple of one thousandth', () => {
  const rounded = [
    ['1n', '1m'],
    ['100u', '1m'],
    ['1500u', '2m'],
    ['5', '5'],
    ['10e-6', '1e-3'],
  ] as const
  for (const [given, text] of rounded) assert.equal(roundToMilli(given), text)
})

test('a quantity in canonical form does not change', () => {
  const suffix = fc.constantFrom('', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-3', 'u')
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), suffix, (digits, end) => {
      const once = canonicalQuantity(`${digits}${end}`)
      assert.ok('text' in once)
      assert.deepEqual(canonicalQuantity(once.text), once)
    }),
  )
})

test('a quantity without digits is zero, and errors have the messages of kube-apiserver', () => {
  for (const text of ['k', 'm', '.', '-', '+', 'Ki', 'e3', '-k', '+.m', '-0', '+0', '0.']) {
    assert.deepEqual(canonicalQuantity(text), { text: '0' }, text)
  }
  for (const text of ['e', 'kk', 'i', '--1', '+-1', '1-', '1K', '1e-']) {
    assert.deepEqual(canonicalQuantity(text), { fault: "unable to parse quantity's suffix" }, text)
  }
  for (const text of ['', '..', '1_000', '1.5.5', '1e-3k'])
    assert.ok('fault' in canonicalQuantity(text), text)
})

test('a quantity keeps a trailing dot, a plus sign and leading zeros in its exponent if the rest is canonical', () => {
  for (const text of ['5.k', '+5.k', '5.Ki', '5.e3', '1e+3', '1e03', '1E+3']) {
    assert.deepEqual(canonicalQuantity(text), { text }, text)
  }
})

test('quantities with binary suffixes are capped at the largest int64', () => {
  for (const text of ['8Ei', '16Ei', '9223372036854775807Ki', '999999999999999Ti']) {
    assert.deepEqual(canonicalQuantity(text), { text: '9223372036854775807' }, text)
  }
})

test('every long quantity is rejected or has a canonical form that can be parsed again', () => {
  for (const digits of [990, 996, 997, 998, 999, 1000]) {
    for (const end of ['', '.5', 'k', 'Ki', 'e1', 'e-3', '.000000001']) {
      const once = canonicalQuantity(`${'1'.repeat(digits)}${end}`)
      if ('text' in once) assert.deepEqual(canonicalQuantity(once.text), once, `${digits}${end}`)
    }
  }
})
