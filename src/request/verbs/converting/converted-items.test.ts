import assert from 'node:assert/strict'
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import test from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ItemHome } from '../../../storage/cache/item.ts'
import { Slabs } from '../../../storage/cache/slabs.ts'
import { ConvertedItem, ConvertedItems, Owner } from './converted-items.ts'

const ENTRY_BYTES = 250
const OBJECT_BYTES = 750
const bytesOf = (objects: number): number => objects * (ENTRY_BYTES + OBJECT_BYTES)

const slabs = new Slabs()
const home: ItemHome = {
  codec: { decode: () => assert.fail(), print: () => assert.fail() },
  put: (item, bytes) => slabs.put(item, bytes),
  view: (item, start, end) => slabs.view(item, start, end),
  keep: () => undefined,
}

function itemOf(key: string, revision = 1): ConvertedItem {
  const item = new ConvertedItem(home, { key, revision, createRevision: 1 })
  slabs.put(item, Buffer.alloc(OBJECT_BYTES))
  return item
}

function setUp(objectsMax: number): {
  readonly items: ConvertedItems
  readonly released: string[]
} {
  const released: string[] = []
  const items = new ConvertedItems((item) => {
    released.push(`${item.key}@${item.revision}`)
    slabs.release(item)
  }, bytesOf(objectsMax))
  return { items, released }
}

test('if the cache of converted objects is full, objects of all resources that were not used recently are evicted first', () => {
  const { items, released } = setUp(4)
  const [one, other] = [new Owner(), new Owner()]
  for (const key of ['a', 'b']) items.add(one, itemOf(key), true)
  for (const key of ['c', 'd']) items.add(other, itemOf(key), true)
  items.add(one, itemOf('e'), true) // This evicts after a round in which all items were new.
  assert.deepEqual(released, ['a@1'])
  for (const [owner, key] of [
    [one, 'b'],
    [other, 'c'],
  ] as const)
    assert.ok(items.get(owner, { key, revision: 1 }))
  items.add(one, itemOf('f'), true)
  assert.ok(
    items.get(one, { key: 'b', revision: 1 }) && items.get(other, { key: 'c', revision: 1 }),
  )
  assert.equal(released.length, 2)
  assert.equal(items.bytes, bytesOf(4))
})

test('if all cached objects were used recently, one of them is evicted after a limited number of steps', () => {
  const { items, released } = setUp(5_000)
  const owner = new Owner()
  for (let at = 0; at < 5_000; at++) items.add(owner, itemOf(`o${at}`), true)
  items.add(owner, itemOf('more'), true)
  assert.equal(released.length, 1)
})

test('the cache retains the latest two revisions of an object, in whatever order its revisions are added', () => {
  for (const revisions of [
    [1, 2, 3, 4],
    [4, 3, 2, 1],
    [2, 4, 1, 3],
    [1, 1, 4, 4],
    [4, 1, 1, 4],
  ]) {
    const { items } = setUp(100)
    const owner = new Owner()
    const order = revisions.join()
    const last = [...new Set(revisions)].toSorted((one, other) => one - other).slice(-2)
    for (const revision of revisions) items.add(owner, itemOf('a', revision), true)
    const kept = [1, 2, 3, 4].filter(
      (revision) => items.get(owner, { key: 'a', revision }) !== undefined,
    )
    assert.deepEqual(kept, last, order)
    assert.equal(items.bytes, bytesOf(2), order)
    items.deleteAll(owner)
    assert.equal(items.bytes, 0, order)
  }
})

// Whether a garbage collection is minor. Major collections are not counted, because they depend on
// the memory that the setup has left.
const isMinor = (entry: PerformanceEntry): boolean =>
  'detail' in entry && Object(entry.detail).kind === constants.NODE_PERFORMANCE_GC_MINOR

test('reading converted objects from the cache creates no garbage', async () => {
  const { items } = setUp(20_000)
  const owner = new Owner()
  const all = Array.from({ length: 10_000 }, (_, at) => itemOf(`o${at}`))
  for (const item of all) items.add(owner, item, true)
  let collections = 0
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().filter(isMinor).length
  })
  observer.observe({ entryTypes: ['gc'] })
  for (let watcher = 0; watcher < 50; watcher++)
    for (const item of all) if (items.get(owner, item) !== item) assert.fail()
  await nextTurn()
  collections += observer.takeRecords().filter(isMinor).length
  observer.disconnect()
  assert.ok(collections <= 3, `${collections} collections`)
})
