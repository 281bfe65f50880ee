import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Enumeration } from './enumeration.ts'

test('Enumeration.has finds values of every JSON type', () => {
  const some = new Enumeration([
    'a',
    1,
    true,
    null,
    { a: 1, b: ['x'] },
    ['a', 'b'],
    '__proto__',
    2n ** 60n,
  ])
  for (const value of ['a', 1.0, true, { b: ['x'], a: 1 }, ['a', 'b'], '__proto__', 2n ** 60n]) {
    assert.ok(some.has(value), typeof value)
  }
  for (const value of [
    'b',
    '1',
    0,
    false,
    null,
    {},
    { a: 1 },
    { a: 1, b: ['y'] },
    ['b', 'a'],
    '["a","b"]',
    'constructor',
  ]) {
    assert.ok(!some.has(value), JSON.stringify(value))
  }
})
