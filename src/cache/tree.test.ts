import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemTime } from '../lib/timers.ts'
import { Item, type ItemHome } from './item.ts'
import { newTree, select } from './tree.ts'

const home: ItemHome = {
  form: {
    decode: () => ({ kind: 'K', apiVersion: 'v1', metadata: {} }),
    print: () => ({ bytes: Buffer.alloc(0), headBytes: 0, versionAt: 0 }),
  },
  put: () => undefined,
  view: () => Buffer.alloc(0),
  keep: () => undefined,
}

test('a long list is taken in several goes, each item once, and only of its range', async () => {
  const tree = newTree()
  const keys = Array.from({ length: 10_000 }, (_, n) => `/r/a/${String(n).padStart(6, '0')}`)
  for (const key of [...keys, '/r/b/1', '/r/A/1'])
    tree.set(key, new Item(home, { key, revision: 1, createRevision: 1 }))
  const { items, more } = await select(tree, { from: '/r/a/', to: '/r/a0' }, {}, { time: systemTime })
  assert.deepEqual(
    items.map((item) => item.key),
    keys,
  )
  assert.equal(more, false)
  const page = await select(tree, { from: '/r/a/', to: '/r/a0' }, { limit: 10 }, { time: systemTime })
  assert.deepEqual([page.items.length, page.more, page.remaining], [10, true, 9_990])
})
