import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headerLines } from './header-lines.ts'

test('several lines of one header are returned as separate values, and __proto__ is a valid name', () => {
  const lines = headerLines([
    'A',
    '1',
    '__proto__',
    '2',
    'a',
    '3, 4',
    'constructor',
    '',
    'Set-Cookie',
    '5',
  ])
  assert.deepEqual(
    [...lines],
    [
      ['a', ['1', '3, 4']],
      ['__proto__', ['2']],
      ['constructor', ['']],
      ['set-cookie', ['5']],
    ],
  )
})
