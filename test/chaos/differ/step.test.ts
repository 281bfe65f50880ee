import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../recorded/compat/json.ts'
import { type Choices, choicesOf } from './choices.ts'
import { deleteAt, places, setAt } from './json-positions.ts'
import { fill, fillTarget, type Variables } from './step.ts'

const variables: Variables = {
  ns: 'n1',
  answers: new Map<string, Json>([
    ['s0', { metadata: { uid: 'u', list: [{ a: 1 }] }, spec: { a: 1, b: 2 } }],
  ]),
}

test('the strings of a request step can refer to the namespace and to earlier responses', () => {
  const body = {
    $ns: '$ns-x',
    uid: '${s0.metadata.uid}',
    deep: ['${s0.metadata.list.0.a}', '${s0.nope}', '${s9.x}'],
  }
  assert.deepEqual(fill(body, variables), { n1: 'n1-x', uid: 'u', deep: ['1', '', ''] })
  const step = { id: 's1', method: 'GET', path: '/api/$ns/x', query: { fieldSelector: 'a=$ns' } }
  assert.equal(fillTarget(step, variables), '/api/n1/x?fieldSelector=a%3Dn1')
})

test('the body of a request step can be an earlier response with edits', () => {
  const body = {
    $base: 's0',
    $edits: [
      ['del', ['metadata']],
      ['set', ['spec', 'a'], '$ns'],
      ['set', ['x', 'y'], 1],
    ],
  }
  assert.deepEqual(fill(body, variables), { spec: { a: 'n1', b: 2 }, x: { y: 1 } })
  assert.throws(() => fill({ $base: 's0', $edits: ['x'] }, variables), /is neither/)
})

test('values in a JSON document can be found, set and deleted by their path', () => {
  const value: Json = { a: [{ b: 1 }, 2], c: null }
  assert.deepEqual(
    [...places(value)].map(({ path }) => path.join('.')),
    ['', 'a', 'a.0', 'a.0.b', 'a.1', 'c'],
  )
  setAt(value, ['a', 9], 3)
  setAt(value, ['c', 'd'], 4)
  assert.ok(deleteAt(value, ['a', 0]))
  assert.ok(!deleteAt(value, ['nope', 'x']))
  assert.deepEqual(value, { a: [2, 3], c: { d: 4 } })
})

const draw = (choices: Choices): number[] => Array.from({ length: 5 }, () => choices.int(1000))

test('random choices depend only on the seed, the area and the case number', () => {
  assert.deepEqual(draw(choicesOf(7, 'apply', 3)), draw(choicesOf(7, 'apply', 3)))
  assert.notDeepEqual(draw(choicesOf(7, 'apply', 3)), draw(choicesOf(7, 'apply', 4)))
  assert.notDeepEqual(draw(choicesOf(7, 'apply', 3)), draw(choicesOf(7, 'reads', 3)))
})
