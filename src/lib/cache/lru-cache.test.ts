import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes, partOfMegabyte } from '../../../test/support/harness/held-bytes.ts'
import { LruCache } from './lru-cache.ts'

test('the cache keeps the most recent entries, and never exceeds its maximum size', () => {
  const cache = new LruCache<string>(8)
  for (let at = 0; at < 100; at++) {
    cache.set(`${at}`, `v${at}`)
    for (let back = 0; back < 4 && back <= at; back++)
      assert.equal(cache.get(`${at - back}`), `v${at - back}`)
  }
  let known = 0
  for (let at = 0; at < 100; at++) if (cache.get(`${at}`) !== undefined) known++
  assert.ok(known >= 4 && known <= 8, `${known} are known`)
})

test('an entry that is read regularly stays in the cache', () => {
  const cache = new LruCache<number>(8)
  cache.set('asked', 0)
  for (let at = 0; at < 100; at++) {
    cache.set(`v${at}`, at)
    assert.equal(cache.get('asked'), 0)
  }
})

test('a new value replaces the old one, and a deleted entry is not returned', () => {
  const cache = new LruCache<number>(2)
  cache.set('a', 1)
  cache.set('b', 1)
  cache.set('a', 2)
  assert.equal(cache.get('a'), 2)
  cache.delete('a')
  assert.equal(cache.get('a'), undefined)
  assert.equal(cache.get('b'), 1)
  cache.clear()
  assert.equal(cache.get('b'), undefined)
})

test('a cached key that is a part of a longer string does not keep that string in memory', async () => {
  const cache = new LruCache<number>(100)
  const held = await heldBytes(() => {
    for (let at = 0; at < 50; at++) cache.set(partOfMegabyte(`a-key-of-a-value-${at}`), at)
    cache.set('another', 0)
    // An entry that is found in the older generation moves to the newer one.
    for (let at = 0; at < 49; at++)
      assert.equal(cache.get(partOfMegabyte(`a-key-of-a-value-${at}`)), at)
  })
  assert.ok(held < 10 << 20, `${held} bytes are held`)
})
