import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ListMerge } from './merge-type.ts'
import { compareElements, inOrder, itemElement, itemFault } from './path-element.ts'

test('numbers of any length are ordered by their values', () => {
  const sorted = ['v:9', 'v:10', 'v:9007199254740993', 'v:10000000000000000', 'v:1e300']
  assert.deepEqual(sorted.toReversed().toSorted(compareElements), sorted)
  const keys = ['k:{"id":9}', 'k:{"id":9007199254740993}', 'k:{"id":10000000000000000}']
  assert.deepEqual(keys.toReversed().toSorted(compareElements), keys)
})

test('inOrder and compareElements sort in the same order, whether or not inOrder parses the elements', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', ' ', '!', '#', '"', 'é', '0', '9', '/'),
    maxLength: 3,
  })
  const element = fc.oneof(
    text.map((name) => `f:${name}`),
    text.map((value) => `v:${JSON.stringify(value)}`),
    text.map((value) => `k:${JSON.stringify({ name: value })}`),
    text.map((value) => `k:${JSON.stringify({ nam: value })}`),
    fc.nat(20).map((value) => `v:${value}`),
    fc.nat(20).map((at) => `i:${at}`),
  )
  fc.assert(
    fc.property(fc.uniqueArray(element, { maxLength: 5 }), (elements) => {
      const sorted = inOrder(elements.map((each) => [each, undefined])).map(([each]) => each)
      assert.deepEqual(sorted, elements.toSorted(compareElements))
    }),
    { numRuns: 3000 },
  )
})

const listBy = (isOptional: boolean): ListMerge => ({
  form: 'list',
  by: 'keys',
  keys: [
    { name: 'name', default: undefined, isOptional },
    { name: 'port', default: undefined, isOptional },
  ],
  of: { form: 'any' },
})

test('an item can omit optional keys, but not all of them', () => {
  assert.equal(itemElement({ name: 'a' }, listBy(true)), 'k:{"name":"a"}')
  assert.equal(itemElement({ name: 'a' }, listBy(false)), undefined)
  assert.equal(itemElement({}, listBy(true)), undefined)
  assert.equal(
    itemFault({}, listBy(true)),
    `associative list with keys has an element that omits all key fields ["name" "port"] (and doesn't have default values for any key fields)`,
  )
  assert.equal(
    itemFault({ name: 'a' }, listBy(false)),
    `associative list with keys has an element that omits key field "port" (and doesn't have default value)`,
  )
})
