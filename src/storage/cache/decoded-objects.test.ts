import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DecodedObjects } from './decoded-objects.ts'
import type { Item } from './item.ts'

/** A fake item with the fields that DecodedObjects uses. */
const itemOf = (length: number): Item => {
  const fields = { length, isLarge: length > 1000, isInDemand: false, isReleased: false }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the other fields are not read
  return { ...fields, decoded: {} } as unknown as Item
}

const kept = (items: readonly Item[]): boolean[] =>
  items.map(({ decoded }) => decoded !== undefined)

test('in the budget for decoded objects, large objects count more per byte than small objects', () => {
  const objects = new DecodedObjects(100_000)
  const small = [itemOf(1000), itemOf(1000)]
  for (const item of small) objects.add(item)
  assert.deepEqual(kept(small), [true, true])
  const large = [itemOf(1800), itemOf(1100)]
  for (const item of large) objects.add(item)
  assert.deepEqual(kept([...small, ...large]), [false, false, false, true])
})

test('adding a large decoded object does not evict all small ones', () => {
  const objects = new DecodedObjects(100_000)
  const small = [itemOf(1000), itemOf(1000)]
  for (const item of small) objects.add(item)
  const large = itemOf(90_000)
  objects.add(large)
  objects.add(itemOf(1000))
  assert.deepEqual(kept([...small, large]), [true, true, true])
})

test('the newest decoded object is kept even if it exceeds the budget', () => {
  const objects = new DecodedObjects(100_000)
  const first = itemOf(90_000)
  first.isInDemand = true
  objects.add(first)
  const second = itemOf(90_000)
  objects.add(second)
  assert.deepEqual(kept([first, second]), [false, true])
})
