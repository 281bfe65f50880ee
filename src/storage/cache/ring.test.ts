import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ObjectChange } from './event.ts'
import { Ring } from './ring.ts'

const deletion = (key: string, revision: number): ObjectChange =>
  new ObjectChange({ key, revision, item: undefined, previous: undefined })

test('`recent` finds the latest change of a key among the last few events since a revision', () => {
  const ring = new Ring(0, () => undefined)
  ring.push(deletion('/a', 1))
  ring.push(deletion('/b', 2))
  ring.push(deletion('/a', 3))
  assert.equal(ring.recent('/a', 1)?.revision, 3)
  assert.equal(ring.recent('/b', 2)?.revision, 2)
  assert.equal(ring.recent('/b', 3), undefined)
  for (let revision = 4; revision < 100; revision++) ring.push(deletion('/c', revision))
  assert.equal(ring.recent('/a', 1), undefined)
})
