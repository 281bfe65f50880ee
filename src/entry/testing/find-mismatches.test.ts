import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findMismatches } from './find-mismatches.ts'

test('an object matches if it has all expected fields', () => {
  const actual = { spec: { replicas: 3, items: [{ a: 1, b: 2 }], empty: {} }, status: 'x' }
  assert.deepEqual(findMismatches(actual, {}), [])
  assert.deepEqual(findMismatches(actual, { spec: { replicas: 3, items: [{ a: 1 }] } }), [])
  assert.deepEqual(findMismatches(actual, { spec: { other: undefined } }), [])
})

test('findMismatches returns the path of each field that differs', () => {
  const actual = { spec: { replicas: 3, items: [{ a: 1 }, { a: 2 }] } }
  const wanted = { spec: { replicas: '3', items: [{ a: 1 }, { a: 3, b: 4 }] }, status: {} }
  assert.deepEqual(findMismatches(actual, wanted), [
    { path: '.spec.replicas', actual: 3, wanted: '3' },
    { path: '.spec.items[1].a', actual: 2, wanted: 3 },
    { path: '.spec.items[1].b', actual: undefined, wanted: 4 },
    { path: '.status', actual: undefined, wanted: {} },
  ])
  assert.deepEqual(
    findMismatches({ list: [1] }, { list: [] }).map(({ path }) => path),
    ['.list'],
  )
})
