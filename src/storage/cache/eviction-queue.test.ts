import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EvictionQueue, SWEEPS_KEPT } from './eviction-queue.ts'

test('an eviction queue keeps the newest entries within its budget', () => {
  const evicted: number[] = []
  const queue = new EvictionQueue(100)
  for (const at of [0, 1, 2, 3]) queue.add({ evict: () => evicted.push(at) }, 40)
  assert.deepEqual(evicted, [0, 1])
  queue.add({ evict: () => evicted.push(4) }, 1_000)
  assert.deepEqual(evicted, [0, 1, 2, 3, 4], 'an entry larger than the budget is evicted at once')
})

test('entries of the queue are evicted after SWEEPS_KEPT calls of `sweep`, even if no entries are added', () => {
  const evicted: number[] = []
  const queue = new EvictionQueue(100)
  queue.add({ evict: () => evicted.push(0) }, 1)
  queue.sweep()
  queue.add({ evict: () => evicted.push(1) }, 1)
  for (let sweep = 1; sweep < SWEEPS_KEPT; sweep++) queue.sweep()
  assert.deepEqual(evicted, [])
  queue.sweep()
  assert.deepEqual(evicted, [0])
  queue.sweep()
  assert.deepEqual(evicted, [0, 1])
  queue.sweep()
  assert.deepEqual(evicted, [0, 1])
})
