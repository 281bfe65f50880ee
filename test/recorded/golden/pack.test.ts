import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json } from '../compat/json.ts'
import { pack, unpack } from './pack.ts'

test('unpacking a packed text restores all values with the order of their fields', () => {
  const common = { type: 'object', properties: { b: { type: 'string' }, a: { type: 'string' } } }
  const values = {
    one: { z: common, list: [common, common] },
    two: { again: { z: common, list: [common, common] } },
  }
  const packed = pack(values)
  assert.equal(packed.match(/"properties"/g)?.length, 1)
  assert.equal(JSON.stringify(Object.fromEntries(unpack(packed))), JSON.stringify(values))
})

test('unpacking restores a field whose name is also used for references in the packed text', () => {
  const values = {
    one: { $: 0, $$: 'a text that is long enough for a part' },
    two: { again: { $: 0, $$: 'a text that is long enough for a part' } },
  }
  assert.deepEqual(Object.fromEntries(unpack(pack(values))), values)
})

test('property: unpacking restores any packed value', () => {
  const json = fc.jsonValue().map((value): Json => JSON.parse(JSON.stringify(value)))
  fc.assert(
    fc.property(json, json, (one, two) => {
      const values = { one, two, both: { one, two, list: [two, one] } }
      assert.equal(JSON.stringify(Object.fromEntries(unpack(pack(values)))), JSON.stringify(values))
    }),
  )
})
