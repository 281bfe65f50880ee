import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headerLines } from './header-lines.ts'

test('headerLines returns the values of a repeated header separately, and accepts __proto__ as the name of a header', () => {
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
