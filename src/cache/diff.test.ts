import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import { changesBetween } from './diff.ts'
import { Item, type ItemHome } from './item.ts'
import { newTree, type Tree } from './tree.ts'

const object: KubeObject = { kind: 'K', apiVersion: 'v1', metadata: {} }
const home: ItemHome = {
  form: { decode: () => object, print: () => ({ bytes: Buffer.alloc(0), headBytes: 0, versionAt: 0 }) },
  put: () => undefined,
  view: () => Buffer.alloc(0),
  keep: () => undefined,
}

/** Items by name as [created, changed]. */
function tree(items: Record<string, readonly [number, number]>): Tree {
  const made = newTree()
  for (const [key, [createRevision, revision]] of Object.entries(items)) {
    made.set(key, new Item(home, { key, createRevision, revision }))
  }
  return made
}

test('a difference tells deletions first, then changes by revision, and never makes two objects one', async () => {
  const before = tree({ gone: [1, 1], same: [2, 2], changed: [3, 3], again: [4, 4] })
  const after = tree({ same: [2, 2], changed: [3, 19], again: [12, 15], fresh: [14, 14] })
  const changes = await changesBetween(before, after, 10)
  assert.deepEqual(
    changes.map(({ key, revision, item, previous }) => [key, revision, previous?.revision, item?.revision]),
    [
      ['again', 11, 4, undefined],
      ['gone', 11, 1, undefined],
      ['fresh', 14, undefined, 14],
      ['again', 15, undefined, 15],
      ['changed', 19, 3, 19],
    ],
  )
})
