import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EvictionQueue, SWEEPS_KEPT } from './eviction-queue.ts'
import { MemoizedValues, MemoizedBytes } from './memoized.ts'
import { Slabs } from './slabs.ts'

test('an evicted value is computed again', () => {
  let made = 0
  // The queue has room for one value, including the overhead of an entry.
  const queue = new EvictionQueue(300)
  const forms = new MemoizedValues<object, number>(
    queue,
    () => ++made,
    () => 6,
  )
  const [one, other] = [{}, {}]
  assert.deepEqual([forms.of(one), forms.of(other), forms.of(one)], [1, 2, 3])
})

test('a value that was used again is retained longer than one that was not', () => {
  let made = 0
  // The queue has room for one value, including the overhead of an entry.
  const queue = new EvictionQueue(300)
  const forms = new MemoizedValues<object, number>(
    queue,
    () => ++made,
    () => 6,
  )
  const [one, other] = [{}, {}]
  assert.deepEqual([forms.of(one), forms.of(one), forms.of(other), forms.of(one)], [1, 1, 2, 1])
  for (let sweep = 0; sweep <= 2 * SWEEPS_KEPT; sweep++) {
    queue.sweep()
    assert.equal(forms.of(one), 1, 'used between sweeps')
  }
  for (let sweep = 0; sweep <= 2 * SWEEPS_KEPT; sweep++) queue.sweep()
  assert.equal(forms.of(one), 3, 'no longer used')
})

test('memoized bytes are stored only in the shared memory slabs of the cache', () => {
  let made = 0
  const slabs = new Slabs()
  const queue = new EvictionQueue(2_000)
  const forms = new MemoizedBytes<{ text: string }>({ queue, slabs }, ({ text }) => {
    made++
    return Buffer.from(text)
  })
  const [one, other] = [{ text: 'a'.repeat(1_000) }, { text: 'b'.repeat(1_000) }]
  assert.equal(forms.of(one).toString(), one.text)
  const view = forms.of(one)
  assert.equal(view.toString(), one.text)
  assert.equal(made, 1)
  assert.equal(slabs.size.liveBytes, 1_000)
  assert.equal(forms.of(other).toString(), other.text)
  assert.equal(slabs.size.liveBytes, 1_000, 'there is room for one')
  for (let sweep = 0; sweep <= 2 * SWEEPS_KEPT; sweep++) queue.sweep()
  assert.equal(slabs.size.liveBytes, 0, 'no longer used')
  assert.equal(view.toString(), one.text, 'a view stays readable')
  assert.equal(forms.of(one).toString(), one.text)
})
