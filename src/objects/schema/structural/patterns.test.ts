import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PatternQuestion } from '../../cel/regex.ts'
import { Patterns } from './patterns.ts'

test('a string counts as a match of a pattern that takes a long time to compile, until the second validation pass', () => {
  const long = 'a|'.repeat(1_500)
  const patterns = new Patterns()
  assert.equal(patterns.matches('x', `${long}b`), true)
  assert.equal(patterns.matches('x', `^(${long}x)$`), true)
  const answering = patterns.answer({ isOver: () => false })
  const asked: string[] = []
  for (let turn = answering.next(); turn.done !== true; turn = answering.next()) {
    if (turn.value === undefined) continue
    const { question, resume: report } = turn.value
    assert.ok(question instanceof PatternQuestion)
    asked.push(question.text)
    report(question.pattern.startsWith('^'))
  }
  assert.deepEqual(asked, ['x', 'x'])
  assert.equal(patterns.matches('x', `${long}b`), false)
  assert.equal(patterns.matches('x', `^(${long}x)$`), true)
})
