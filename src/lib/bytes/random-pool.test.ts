import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RandomPool } from './random-pool.ts'

test('the methods `next` and `take` never return the same bytes twice', () => {
  let filled = 0
  const pool = new RandomPool((bytes) => {
    // Fills the pool with consecutive numbers, so that the test detects bytes that are returned
    // twice.
    for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32BE(filled++, at)
  })
  const seen = new Set<number>()
  for (let round = 0; round < 5000; round++) {
    const count = round % 3 === 0 ? 12 : 32
    const given = round % 2 === 0 ? pool.next(count) : pool.take(count)
    assert.equal(given.length, count)
    for (let at = 0; at < count; at += 4) {
      const number = given.readUInt32BE(at)
      assert.ok(!seen.has(number), `${number} was given before`)
      seen.add(number)
    }
  }
})

test('bytes returned by `take` do not change, and `next` reuses the buffer that it returned earlier', () => {
  const pool = new RandomPool()
  const taken = pool.take(12)
  const text = taken.toString('hex')
  const borrowed = pool.next(12)
  assert.equal(pool.next(12), borrowed)
  assert.equal(taken.toString('hex'), text)
})
