import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../../../test/support/harness/turns.ts'
import type { Json } from '../../../api/object.ts'
import { readInTurns, readStructural } from './read-structural.ts'

test('the validation rules of a schema are read in order, and absent fields of a rule become empty strings', () => {
  const rules = [{ rule: 'a' }, {}, { message: 'b' }]
  const read = readStructural({ type: 'object', 'x-kubernetes-validations': rules })
  assert.deepEqual(
    read.rules.map(({ rule, message }) => [rule, message]),
    [
      ['a', ''],
      ['', ''],
      ['', 'b'],
    ],
  )
})

test('reading a million empty rules does not block the event loop', () => {
  const rules = Array.from({ length: 1_000_000 }, () => ({}))
  const schema = {
    type: 'object',
    properties: { a: { type: 'string', 'x-kubernetes-validations': rules } },
  }
  // Use the best of three runs, because garbage collection can slow down a run.
  const longestMs = Math.min(...[1, 2, 3].map(() => longestReadMs(schema)))
  assert.ok(longestMs < 50, `${longestMs} ms`)
})

function longestReadMs(schema: Json): number {
  const turns = readInTurns(schema, { slice: { isOver: () => true } })
  let longestMs = 0
  let isDone = false
  while (!isDone) {
    longestMs = Math.max(
      longestMs,
      cpuMsOf(() => void (isDone = turns.next().done === true)),
    )
  }
  return longestMs
}
