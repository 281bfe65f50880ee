import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IdTable } from './id-table.ts'

test('a table contains the items that were added and not deleted', () => {
  const table = new IdTable<{ readonly id: number }>()
  const model = new Map<number, { readonly id: number }>()
  for (let id = 1; id < 400; id += 2) {
    const stream = { id }
    table.add(stream)
    model.set(id, stream)
    // Deletes the newest item, the oldest one and others, and some of them twice.
    const gone = id % 7 === 0 ? id : ((id * 31) % (id + 2)) | 1
    table.delete(gone)
    model.delete(gone)
    assert.equal(table.size, model.size)
    for (let known = 0; known <= id + 2; known++) assert.equal(table.get(known), model.get(known))
  }
  assert.deepEqual(table.all(), [...model.values()])
  table.clear()
  assert.equal(table.size, 0)
  assert.equal(table.get(399), undefined)
})
