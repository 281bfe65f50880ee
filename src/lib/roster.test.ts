import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Bucket } from './bucket.ts'
import { Roster } from './roster.ts'

test('a roster has those who came and did not go, whatever the order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(9))), (steps) => {
      const people = Array.from({ length: 10 }, (_, id) => ({ id, place: -1 }))
      const roster = new Roster<(typeof people)[number]>()
      const model = new Set<number>()
      for (const [comes, id] of steps) {
        const person = people[id]
        if (person === undefined) continue
        if (comes) roster.add(person)
        else assert.equal(roster.delete(person), model.has(id))
        if (comes) model.add(id)
        else model.delete(id)
      }
      assert.equal(roster.size, model.size)
      assert.deepEqual(new Set(roster.members().map(({ id }) => id)), model)
    }),
  )
})

test('a bucket gives its burst at once, then its rate', () => {
  const bucket = new Bucket(3, 2, 0)
  const takes = (nowMs: number): boolean => bucket.take(nowMs)
  assert.deepEqual([takes(0), takes(0), takes(0), takes(0)], [true, true, true, false])
  assert.deepEqual([takes(499), takes(501), takes(502)], [false, true, false])
  assert.deepEqual(
    [1, 2, 3, 4].map(() => takes(1_000_000)),
    [true, true, true, false],
    'never more than the burst',
  )
})
