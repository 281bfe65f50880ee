import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changesOf } from './changes.ts'

test('changesOf returns one line for each old and each new value of a changed field', () => {
  const before = { a: 1, b: { c: ['x'] }, gone: 2n ** 60n, same: true }
  const now = { a: 2, b: { c: ['y'] }, same: true, z: 3 }
  assert.deepEqual(changesOf(before, now).split('\n'), [
    '- a: 1',
    '+ a: 2',
    '- b: {"c":["x"]}',
    '+ b: {"c":["y"]}',
    '- gone: "1152921504606846976"',
    '+ z: 3',
  ])
})

test('changesOf shortens long values', () => {
  const [line = ''] = changesOf({ a: 'x'.repeat(1_000_000) }, { a: '' }).split('\n')
  assert.match(line, /^- a: "x+\.\.\. \(\d+ more characters\)$/)
  assert.ok(line.length < 100_000)
})
