import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EvictionQueue, SWEEPS_KEPT } from './eviction-queue.ts'
import { MemoizedValues, MemoizedBytes } from './memoized.ts'
import { Slabs } from './slabs.ts'

test('a form that was evicted is made again', () => {
  let made = 0
  // Room for one, with what an entry takes.
  const queue = new EvictionQueue(300)
  const forms = new MemoizedValues<object, number>(
    queue,
    () => ++made,
    () => 6,
  )
  const [one, other] = [{}, {}]
  assert.deepEqual([forms.of(one), forms.of(other), forms.of(one)], [1, 2, 3])
})

test('a form that is asked for stays, one that is not goes first', () => {
  let made = 0
  // Room for one, with what an entry takes.
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
    assert.equal(forms.of(one), 1, 'asked for between sweeps')
  }
  for (let sweep = 0; sweep <= 2 * SWEEPS_KEPT; sweep++) queue.sweep()
  assert.equal(forms.of(one), 3, 'not asked for any longer')
})

test('bytes that are kept stand in slabs, and only there', () => {
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
  assert.equal(slabs.size.liveBytes, 0, 'nobody asks any longer')
  assert.equal(view.toString(), one.text, 'who has it may go on reading')
  assert.equal(forms.of(one).toString(), one.text)
})
