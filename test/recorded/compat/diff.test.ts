import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diff, dropPaths, sortManagedFields, withoutFields } from './diff.ts'
import type { Json } from './json.ts'

const cases: { name: string; want: Json; got: Json; lines: string[] }[] = [
  { name: 'the same', want: { a: [1, { b: null }] }, got: { a: [1, { b: null }] }, lines: [] },
  { name: 'another value', want: { a: 1 }, got: { a: '1' }, lines: ['$.a: expected 1, got "1"'] },
  { name: 'absent', want: { a: 1 }, got: {}, lines: ['$.a: expected 1, absent'] },
  { name: 'not expected', want: {}, got: { a: null }, lines: ['$.a: not expected, got null'] },
  { name: 'a list is not an object', want: [], got: {}, lines: ['$: expected [], got {}'] },
  {
    name: 'a key that all objects inherit',
    want: {},
    got: { constructor: 1 },
    lines: ['$.constructor: not expected, got 1'],
  },
  {
    name: 'lengths of lists',
    want: [1, 2],
    got: [1],
    lines: ['$: 2 entries expected, got 1', '$[1]: expected 2, absent'],
  },
]

for (const { name, want, got, lines } of cases)
  void test(name, () => assert.deepEqual(diff(want, got), lines))

const long = (from: number): Json => Array.from({ length: 1000 }, (_, index) => index + from)

void test('the list of differences is truncated if lists differ completely', () => {
  assert.equal(diff(long(0), long(1)).length, 41)
})

void test('the ignored paths of a response are deleted in place, and * matches any key', () => {
  const value = {
    items: [{ metadata: { uid: 'a', name: 'n' } }, { metadata: { uid: 'b' } }],
    kind: 'List',
  }
  dropPaths(value, ['items.*.metadata.uid', 'kind', 'not.there'])
  assert.deepEqual(value, { items: [{ metadata: { name: 'n' } }, { metadata: {} }] })
})

void test('withoutFields removes fields by name at any depth', () => {
  const value = { a: 1, b: [{ a: 2, c: 3 }] }
  assert.deepEqual(withoutFields(value, ['a']), { b: [{ c: 3 }] })
})

void test('managedFields are sorted by operation, manager, version and subresource', () => {
  const apply = { operation: 'Apply', manager: 'z' }
  const update = { operation: 'Update', manager: 'a' }
  const status = { ...update, subresource: 'status' }
  assert.deepEqual(sortManagedFields({ metadata: { managedFields: [status, update, apply] } }), {
    metadata: { managedFields: [apply, update, status] },
  })
})
