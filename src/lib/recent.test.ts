import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes, partOfMegabyte } from '../../test/support/harness/held-bytes.ts'
import { Recent } from './recent.ts'

test('the last ones are there, and never more than the size', () => {
  const recent = new Recent<string>(8)
  for (let at = 0; at < 100; at++) {
    recent.set(`${at}`, `v${at}`)
    for (let back = 0; back < 4 && back <= at; back++)
      assert.equal(recent.get(`${at - back}`), `v${at - back}`)
  }
  let known = 0
  for (let at = 0; at < 100; at++) if (recent.get(`${at}`) !== undefined) known++
  assert.ok(known >= 4 && known <= 8, `${known} are known`)
})

test('what is asked for stays', () => {
  const recent = new Recent<number>(8)
  recent.set('asked', 0)
  for (let at = 0; at < 100; at++) {
    recent.set(`v${at}`, at)
    assert.equal(recent.get('asked'), 0)
  }
})

test('a new value takes the place of the old one; what is deleted is gone', () => {
  const recent = new Recent<number>(2)
  recent.set('a', 1)
  recent.set('b', 1)
  recent.set('a', 2)
  assert.equal(recent.get('a'), 2)
  recent.delete('a')
  assert.equal(recent.get('a'), undefined)
  assert.equal(recent.get('b'), 1)
  recent.clear()
  assert.equal(recent.get('b'), undefined)
})

test('a key does not keep what it is a part of', async () => {
  const recent = new Recent<number>(100)
  const held = await heldBytes(() => {
    for (let at = 0; at < 50; at++) recent.set(partOfMegabyte(`a-key-of-a-value-${at}`), at)
    recent.set('another', 0)
    // What is found among the older ones is put among the newer ones.
    for (let at = 0; at < 49; at++)
      assert.equal(recent.get(partOfMegabyte(`a-key-of-a-value-${at}`)), at)
  })
  assert.ok(held < 10 << 20, `${held} bytes are held`)
})
