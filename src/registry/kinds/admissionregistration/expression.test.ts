import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Expressions } from './expression.ts'

test('an object may have so many characters of expressions', () => {
  const expressions = new Expressions()
  const long = `'${'a'.repeat(90_000)}' == ''`
  for (const at of [0, 1]) assert.deepEqual(expressions.checkCondition(long, `c[${at}]`), [])
  const [fault] = expressions.checkCondition(long, 'c[2]')
  assert.match(fault?.message ?? '', /may have 262144 characters in all/)
})
