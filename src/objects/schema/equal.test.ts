import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../api/object.ts'
import { type Equality, isEqual } from './equal.ts'
import { splitPackages, TypeCatalogue } from './read-types.ts'

const types = new TypeCatalogue({
  texts: splitPackages(`
package test/v1

Outer
  pointer *Inner 1
  struct Inner 2
  list []string 3
  map map[string]string 4
  text string 5
  textPointer *string 6
  amount *Quantity 7

Inner
  name string 1
`),
  defaults: new Map(),
  release: 33,
})

const equal = (now: Json, stored: Json, equality?: Equality): boolean =>
  isEqual(types.struct('test/v1', 'Outer'), now, stored, equality)

test('a pointer to an empty value is not equal to a nil pointer', () => {
  assert.equal(equal({ pointer: {} }, {}), false)
  assert.equal(equal({}, { pointer: {} }), false)
  assert.equal(equal({ pointer: {} }, { pointer: { name: '' } }), true)
  assert.equal(equal({ textPointer: '' }, {}), false)
})

test('empty structs, lists and maps, and zero values, are equal to absent values', () => {
  assert.equal(equal({ struct: {}, list: [], map: {}, text: '' }, {}), true)
  assert.equal(equal({}, { struct: {}, list: [], map: {}, text: '' }), true)
  assert.equal(equal({ list: ['a'] }, {}), false)
  assert.equal(equal({ map: { a: '' } }, { map: { b: '' } }), false)
})

test('exact equality distinguishes an empty list or map from nil', () => {
  assert.equal(equal({ list: [] }, {}, 'exact'), false)
  assert.equal(equal({ map: {} }, { map: {} }, 'exact'), false)
  assert.equal(equal({}, { list: [], map: {} }, 'exact'), true)
  assert.equal(equal({ list: ['a'] }, { list: ['a'] }, 'exact'), true)
})
