import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import { Item } from '../storage/cache/item.ts'
import { headOf } from './object-head.ts'

type Owner = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
}

const owners = (count: number): readonly Owner[] =>
  Array.from({ length: count }, (_, at) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: `o${at}`,
    uid: `u${at}`,
  }))

/**
 * Creates an item of the cache. `isDecoded` means that the item has the decoded object, as after a
 * write.
 */
function itemOf(ownerReferences: readonly Owner[], isDecoded = false): Item {
  const metadata = { name: 'a', finalizers: ['f'], ownerReferences, uid: 'x' }
  const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
  const bytes = Buffer.from(`${JSON.stringify({ metadata })}\n`)
  const home = {
    codec: { decode: () => object, print: () => ({ bytes, headBytes: 1, versionAt: 0 }) },
    put: () => undefined,
    view: (_item: Item, from?: number, to?: number) => bytes.subarray(from, to),
    keep: () => undefined,
  }
  const item = new Item(home, { key: '/r/a', revision: 1, createRevision: 1 })
  item.length = bytes.length
  if (isDecoded) item.decoded = object
  return item
}

for (const count of [0, 1, 2_000]) {
  for (const isDecoded of [false, true]) {
    test(`headOf returns the metadata of an object with ${count} owners if the object is ${isDecoded ? '' : 'not '}decoded`, () => {
      const head = headOf(itemOf(owners(count), isDecoded))
      assert.equal(head.uid, 'x')
      assert.equal(head.isMarked, false)
      assert.deepEqual(head.finalizers, ['f'])
      assert.deepEqual(
        head.owners.map(({ fields }) => ({ ...fields })),
        owners(count),
      )
      assert.equal(head.ownersDigest === undefined, count < 2_000)
    })
  }
}

const digestOf = (list: readonly Owner[]): string | undefined => headOf(itemOf(list)).ownersDigest

test('the digest of the owners changes when the owners change', () => {
  assert.equal(digestOf(owners(2_000)), digestOf(owners(2_000)))
  assert.notEqual(digestOf(owners(2_000)), digestOf(owners(2_001)))
})

test('the metadata of a large item is read only once', () => {
  const item = itemOf(owners(2_000))
  assert.equal(headOf(item), headOf(item))
})
