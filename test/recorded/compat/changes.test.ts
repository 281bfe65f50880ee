import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyChanges, type Change, changesBetween } from './changes.ts'
import type { Json } from './json.ts'

const cases: [name: string, from: Json, to: Json, changes: Change[]][] = [
  ['equal values', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
  ['a removed field', { a: 1, b: 2 }, { a: 1 }, [{ at: '/b' }]],
  ['a new field', {}, { 'a/b~c': null }, [{ at: '/a~1b~0c', value: null }]],
  ['a field in a list', [{ a: 1 }, 2], [{ a: 3 }, 2], [{ at: '/0/a', value: 3 }]],
  ['another type', { a: [] }, { a: {} }, [{ at: '/a', value: {} }]],
  ['another value', 1, 'x', [{ at: '', value: 'x' }]],
  [
    'a new element in a list',
    { list: [1, 2, 3] },
    { list: [1, 9, 2, 3] },
    [{ at: '/list', index: 1, remove: 0, insert: [9] }],
  ],
  ['a removed element of a list', [1, 1, 1], [1, 1], [{ at: '', index: 2, remove: 1, insert: [] }]],
]

for (const [name, from, to, changes] of cases) {
  void test(`the changes between two values describe ${name}`, () => {
    assert.deepEqual(changesBetween(from, to), changes)
    assert.deepEqual(applyChanges(from, changes), to)
  })
}

void test('applying changes does not modify the original value', () => {
  const from = { a: [1] }
  applyChanges(from, [{ at: '/a', index: 0, remove: 0, insert: [0] }])
  assert.deepEqual(from, { a: [1] })
})

void test('applying changes to a value of another shape throws an error with the path', () => {
  assert.throws(() => applyChanges([], [{ at: '/a/b', value: 1 }]), /no object above \/a\/b/)
  assert.throws(
    () => applyChanges({}, [{ at: '/a', index: 0, remove: 0, insert: [] }]),
    /no list at \/a/,
  )
})
