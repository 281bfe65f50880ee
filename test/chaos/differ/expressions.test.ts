import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choicesOf } from './choices.ts'
import { Expressions, Grammar } from './expressions.ts'

const types = [
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'timestamp',
  'duration',
  'list<int>',
  'quantity',
]

test('every template of a random CEL expression is expanded completely', () => {
  const grammar = new Grammar()
  for (let number = 0; number < 2000; number++) {
    const choices = choicesOf(1, 'expressions', number)
    const expressions = new Expressions(choices, grammar, [['self.i', 'int']])
    const text = expressions.make(choices.pick(types), 3)
    assert.doesNotMatch(text, /[`«»‹›]|\$v|undefined/)
  }
})
