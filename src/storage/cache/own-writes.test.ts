import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Key } from '../engine.ts'
import { type OwnWrite, OwnWrites } from './own-writes.ts'

const write = (key: Key, revision: number, bytes = 10): OwnWrite => ({
  key,
  revision,
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: key } },
  wire: { bytes: Buffer.alloc(bytes), headBytes: 0, versionAt: 0 },
})

test('`take` returns each write once, by key and revision, in any order', () => {
  const writes = new OwnWrites()
  const [first, second, third] = [write('/a', 1), write('/b', 2), write('/c', 2)]
  for (const one of [first, second, third]) writes.add(one)
  assert.equal(writes.take('/a', 2), undefined)
  assert.equal(writes.take('/c', 2), third)
  assert.equal(writes.take('/c', 2), undefined)
  assert.equal(writes.take('/a', 1), first)
  assert.equal(writes.take('/b', 2), second)
})

test('the oldest recorded writes are dropped if there are too many or if they are too large', () => {
  const many = new OwnWrites()
  for (let revision = 1; revision <= 257; revision++) many.add(write('/a', revision))
  assert.equal(many.take('/a', 1), undefined)
  assert.equal(many.take('/a', 2)?.revision, 2)
  const large = new OwnWrites()
  for (const revision of [1, 2, 3]) large.add(write('/a', revision, 2 << 20))
  assert.equal(large.take('/a', 1), undefined)
  assert.equal(large.take('/a', 3)?.revision, 3)
})
