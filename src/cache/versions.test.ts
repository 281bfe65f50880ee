import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Change } from './event.ts'
import { Item } from './item.ts'
import { Ring } from './ring.ts'
import { newTree } from './tree.ts'
import { type Version, Versions } from './versions.ts'

const LISTS = 40

const unexpected = (): never => {
  throw new Error('nobody looks at the objects here')
}
const home = { form: { decode: unexpected, print: unexpected }, put: unexpected, view: unexpected, keep: unexpected }

/** As many changes of one object as there are revisions. */
function changed(revisions: number): { readonly ring: Ring; readonly current: () => Version } {
  const ring = new Ring(0, () => undefined)
  const tree = newTree()
  let previous: Item | undefined
  for (let revision = 1; revision <= revisions; revision++) {
    const item = new Item(home, { key: 'a', revision, createRevision: 1 })
    ring.push(new Change({ key: 'a', revision, item, previous }))
    tree.set('a', item)
    previous = item
  }
  return { ring, current: () => ({ ring, position: ring.end, tree }) }
}

test('every revision of the ring can be had, and the state that is asked for again is kept', async () => {
  const { ring, current } = changed(LISTS + 10)
  const versions = new Versions(ring)
  const paged = await versions.at(5, current)
  for (let revision = 6; revision < LISTS; revision++) {
    assert.equal((await versions.at(revision, current))?.tree.get('a')?.revision, revision)
    assert.equal(await versions.at(5, current), paged, 'the next page is of the same state')
  }
  assert.equal((await versions.at(6, current))?.tree.get('a')?.revision, 6)
})

test('what the ring has forgotten cannot be had', async () => {
  const { ring, current } = changed(10)
  const versions = new Versions(ring)
  await versions.at(2, current)
  for (let i = 0; i < 5; i++) ring.evict()
  versions.forgetBefore(ring.first)
  assert.equal(await versions.at(2, current), undefined)
  versions.keep({ ring, position: 2, tree: current().tree })
  assert.equal((await versions.at(6, current))?.tree.get('a')?.revision, 6)
})
