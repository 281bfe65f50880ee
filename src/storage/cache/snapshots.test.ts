import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ObjectChange } from './event.ts'
import { Item } from './item.ts'
import { Ring } from './ring.ts'
import { newTree } from './tree.ts'
import { type Snapshot, Snapshots } from './snapshots.ts'

const LISTS = 40

const unexpected = (): never => {
  throw new Error('this test does not read objects')
}
const home = {
  codec: { decode: unexpected, print: unexpected },
  put: unexpected,
  view: unexpected,
  keep: unexpected,
}

/** Returns an event ring in which each revision changes the same object. */
function changed(revisions: number): { readonly ring: Ring; readonly current: () => Snapshot } {
  const ring = new Ring(0, () => undefined)
  const tree = newTree()
  let previous: Item | undefined
  for (let revision = 1; revision <= revisions; revision++) {
    const item = new Item(home, { key: 'a', revision, createRevision: 1 })
    ring.push(new ObjectChange({ key: 'a', revision, item, previous }))
    tree.set('a', item)
    previous = item
  }
  return { ring, current: () => ({ ring, position: ring.end, tree }) }
}

test('the state at every revision of the event ring is available, and repeated requests get the same snapshot', async () => {
  const { ring, current } = changed(LISTS + 10)
  const snapshots = new Snapshots(ring)
  const paged = await snapshots.at(5, current)
  for (let revision = 6; revision < LISTS; revision++) {
    assert.equal((await snapshots.at(revision, current))?.tree.get('a')?.revision, revision)
    assert.equal(await snapshots.at(5, current), paged, 'the next page is of the same state')
  }
  assert.equal((await snapshots.at(6, current))?.tree.get('a')?.revision, 6)
})

test('the state at a revision whose events were evicted from the event ring is not available', async () => {
  const { ring, current } = changed(10)
  const snapshots = new Snapshots(ring)
  await snapshots.at(2, current)
  for (let i = 0; i < 5; i++) ring.evict()
  snapshots.forgetBefore(ring.first)
  assert.equal(await snapshots.at(2, current), undefined)
  snapshots.keep({ ring, position: 2, tree: current().tree })
  assert.equal((await snapshots.at(6, current))?.tree.get('a')?.revision, 6)
})
