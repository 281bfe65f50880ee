import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../../test/support/harness/turns.ts'
import { NumberSet } from './number-set.ts'

/** The addresses of a /12 network, whose record takes 128 KB. */
const large = { first: 0, last: (1 << 20) - 3 }
/**
 * Time limit that suffices even on a busy machine. With quadratic time, the test would take
 * minutes.
 */
const MS_MAX = 20_000

test('after a reset, a number set contains exactly the given numbers that are in its range', () => {
  const set = new NumberSet({ first: 30_000, last: 30_015 }, Buffer.alloc(0), () => 0)
  set.add(30_003)
  set.reset([30_000, 30_009, 30_015, 29_999, 30_016])
  assert.deepEqual(set.list(), [30_000, 30_009, 30_015])
  assert.equal(set.stored().toString('hex'), '8201')
  assert.equal(set.has(30_009), true)
  set.reset([])
  assert.equal(set.stored().length, 0)
})

test('many numbers in a large range are added to a set, listed and skipped quickly', () => {
  const set = new NumberSet(large, Buffer.alloc(0), () => 0)
  const numbers = Array.from({ length: 20_000 }, (_, at) => at * 50)
  const tookMs = cpuMsOf(() => {
    set.reset(numbers)
    assert.deepEqual(set.list(), numbers)
    set.reset(Array.from({ length: large.last }, (_, at) => at))
    assert.equal(set.takeAny(), large.last)
  })
  assert.ok(tookMs < MS_MAX, `${tookMs} ms`)
})

test('a number set finds every free number, at any position of its range', () => {
  const range = { first: 100, last: 109, named: 2 }
  const set = new NumberSet(range, Buffer.alloc(0), () => 0.5)
  const given = Array.from({ length: 10 }, () => set.takeAny())
  assert.deepEqual(given, [106, 107, 108, 109, 102, 103, 104, 105, 101, 100])
  assert.throws(() => set.takeAny(), /range is full/)
})

test('a stored number set is restored without the numbers beyond the range', () => {
  const stored = Buffer.from('ffff8201', 'hex')
  assert.deepEqual(new NumberSet({ first: 0, last: 15 }, stored, () => 0).list(), [0, 9, 15])
  assert.deepEqual(new NumberSet({ first: 0, last: 14 }, stored, () => 0).list(), [0, 9])
  assert.deepEqual(new NumberSet({ first: 0, last: 99 }, stored.subarray(3), () => 0).list(), [0])
})

test('a number set remains unchanged if one of several combined changes fails', () => {
  const set = new NumberSet({ first: 1, last: 20 }, Buffer.alloc(0), () => 0)
  set.take(7)
  const change = (): void => {
    set.take(3)
    set.release(7)
    set.take(21)
  }
  assert.throws(() => set.attempt(change), /not in the valid range/)
  assert.deepEqual(set.list(), [7])
})
