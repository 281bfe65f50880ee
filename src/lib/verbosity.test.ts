import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Verbosity } from './verbosity.ts'

test('a level is for all modules, or for some', () => {
  const verbosity = new Verbosity(0, [
    { pattern: 'auth*', level: 4 },
    { pattern: 'authentication', level: 9 },
    { pattern: 'fe?d', level: 2 },
  ])
  assert.ok(verbosity.isOn(0) && !verbosity.isOn(2) && !verbosity.isOn(2, 'http'))
  assert.ok(verbosity.isOn(4, 'authorization') && !verbosity.isOn(5, 'authentication'))
  assert.ok(verbosity.isOn(2, 'feed') && !verbosity.isOn(3, 'feed'))
  verbosity.level = 3
  assert.ok(verbosity.isOn(3) && verbosity.isOn(3, 'http'))
})
