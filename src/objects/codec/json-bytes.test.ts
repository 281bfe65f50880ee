import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { itemsIn, valueAt } from './json-bytes.ts'

test('property: valueAt finds the value at each path in the bytes of a JSON text', () => {
  const key = fc.oneof(fc.constantFrom('spec', 'a', '"', '\\', '__proto__'), fc.string())
  const object = fc.dictionary(key, fc.oneof(fc.jsonValue(), fc.dictionary(key, fc.jsonValue())))
  fc.assert(
    fc.property(object, key, key, (given, first, second) => {
      const json = Buffer.from(JSON.stringify(given))
      const outer = new Map(Object.entries(given)).get(first)
      const isObject = typeof outer === 'object' && outer !== null && !Array.isArray(outer)
      const inner = isObject ? new Map(Object.entries(outer)).get(second) : undefined
      assert.equal(
        valueAt(json, [first])?.toString(),
        outer === undefined ? undefined : JSON.stringify(outer),
      )
      assert.equal(
        valueAt(json, [first, second])?.toString(),
        inner === undefined ? undefined : JSON.stringify(inner),
      )
    }),
    { numRuns: 1000 },
  )
})

test('property: all items of a list are found in the bytes of a JSON text', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (list) => {
      const items = [...itemsIn(Buffer.from(JSON.stringify(list)))].map((item) => item.toString())
      assert.deepEqual(
        items,
        list.map((item) => JSON.stringify(item)),
      )
    }),
  )
  assert.deepEqual([...itemsIn(Buffer.from('{"a":1}')), ...itemsIn(undefined)], [])
})
