import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { IndexedSet } from './indexed-set.ts'

test('a set contains the members that were added and not deleted, in any order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(9))), (steps) => {
      const members = Array.from({ length: 10 }, (_, id) => ({ id, index: -1 }))
      const set = new IndexedSet<(typeof members)[number]>()
      const model = new Set<number>()
      for (const [isAdded, id] of steps) {
        const member = members[id]
        if (member === undefined) continue
        if (isAdded) set.add(member)
        else assert.equal(set.delete(member), model.has(id))
        if (isAdded) model.add(id)
        else model.delete(id)
      }
      assert.equal(set.size, model.size)
      assert.deepEqual(new Set(set.members().map(({ id }) => id)), model)
    }),
  )
})
