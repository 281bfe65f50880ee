import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes, partOfMegabyte } from '../../../test/support/harness/held-bytes.ts'
import { TtlCache } from './ttl-cache.ts'

function started(sizeMax: number): { cache: TtlCache<number>; pass: (ms: number) => void } {
  let nowMs = 1_000
  return {
    cache: new TtlCache<number>({ sizeMax, weightMax: 100 }, { monotonicMs: () => nowMs }),
    pass: (ms) => {
      nowMs += ms
    },
  }
}

test('an entry is returned until it expires', () => {
  const { cache, pass } = started(10)
  cache.set('a', 1, { ttlMs: 100 })
  cache.set('b', 2, { ttlMs: 200 })
  pass(99)
  assert.equal(cache.get('a'), 1)
  pass(1)
  assert.equal(cache.get('a'), undefined)
  assert.equal(cache.get('b'), 2)
  assert.equal(cache.size, 1)
})

test('a read does not extend the lifetime of an entry, but a new value does', () => {
  const { cache, pass } = started(10)
  cache.set('a', 1, { ttlMs: 100 })
  pass(50)
  assert.equal(cache.get('a'), 1)
  cache.set('a', 2, { ttlMs: 100 })
  pass(60)
  assert.equal(cache.get('a'), 2)
  pass(40)
  assert.equal(cache.get('a'), undefined)
})

test('the least recently used entry is evicted first', () => {
  const { cache } = started(2)
  cache.set('a', 1, { ttlMs: 100 })
  cache.set('b', 2, { ttlMs: 100 })
  assert.equal(cache.get('a'), 1)
  cache.set('c', 3, { ttlMs: 100 })
  assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], [1, undefined, 3])
  assert.equal(cache.size, 2)
})

test('an entry is removed by a new value with a TTL of 0, by `delete` and by `clear`', () => {
  const { cache } = started(2)
  cache.set('a', 1, { ttlMs: 100 })
  cache.set('a', 2, { ttlMs: 0 })
  assert.equal(cache.get('a'), undefined)
  cache.set('b', 1, { ttlMs: 100 })
  cache.delete('b')
  assert.equal(cache.get('b'), undefined)
  cache.set('c', 1, { ttlMs: 100 })
  cache.clear()
  assert.equal(cache.size, 0)
})

test('expired entries are removed when another entry is added', () => {
  const { cache, pass } = started(10)
  for (const [at, key] of ['a', 'b', 'c'].entries()) cache.set(key, at, { ttlMs: 100 })
  pass(50)
  assert.equal(cache.get('a'), 0)
  cache.set('d', 3, { ttlMs: 100 })
  pass(50)
  cache.set('e', 4, { ttlMs: 100 })
  assert.equal(cache.size, 2)
  assert.deepEqual([cache.get('d'), cache.get('e')], [3, 4])
})

test('the total weight of all entries is limited', () => {
  const { cache } = started(10)
  for (const [at, key] of ['a', 'b', 'c'].entries()) cache.set(key, at, { ttlMs: 100, weight: 40 })
  assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], [undefined, 1, 2])
  cache.set('b', 5, { ttlMs: 100, weight: 60 })
  assert.deepEqual([cache.get('b'), cache.get('c')], [5, 2])
  cache.set('d', 6, { ttlMs: 100, weight: 1 })
  assert.deepEqual([cache.get('b'), cache.get('c'), cache.get('d')], [undefined, 2, 6])
  cache.set('e', 7, { ttlMs: 100, weight: 101 })
  assert.equal(cache.size, 0)
  cache.set('f', 8, { ttlMs: 100, weight: 100 })
  assert.equal(cache.get('f'), 8)
})

test('a cached key that is a part of a longer string does not keep that string in memory', async () => {
  const cache = new TtlCache<number>({ sizeMax: 100 }, { monotonicMs: () => 0 })
  const held = await heldBytes(() => {
    for (let at = 0; at < 50; at++)
      cache.set(partOfMegabyte(`a-key-of-a-value-${at}`), at, { ttlMs: 1 })
    for (let at = 0; at < 50; at++)
      assert.equal(cache.get(partOfMegabyte(`a-key-of-a-value-${at}`)), at)
  })
  assert.ok(held < 10 << 20, `${held} bytes are held`)
})
