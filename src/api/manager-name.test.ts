import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../test/support/harness/turns.ts'
import { FAULTS_CHARACTERS_MAX } from './field-fault.ts'
import { managerFaults } from './manager-name.ts'

test('each unprintable character in a manager name is a validation error', () => {
  assert.deepEqual(
    managerFaults('fieldManager', 'a\u0001é\n').map(({ message }) => message),
    [
      'Invalid value: "a\\x01é\\n": invalid character U+0001 (at position 1)',
      'Invalid value: "a\\x01é\\n": invalid character U+000A (at position 4)',
    ],
  )
})

test('the validation errors for a long manager name are limited in total length', () => {
  const name = '\u0001'.repeat(300_000)
  let characters = 0
  const ms = cpuMsOf(() => {
    for (const { message } of managerFaults('fieldManager', name)) characters += message.length
  })
  assert.ok(characters < 2 * FAULTS_CHARACTERS_MAX, `${characters} characters`)
  assert.ok(ms < 50, `${ms} ms`)
})
