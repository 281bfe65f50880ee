import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EvictionQueue, TURNS_KEPT } from './eviction-queue.ts'

test('an eviction queue keeps the newest within its budget', () => {
  const evicted: number[] = []
  const queue = new EvictionQueue(100)
  for (const at of [0, 1, 2, 3]) queue.add({ evict: () => evicted.push(at) }, 40)
  assert.deepEqual(evicted, [0, 1])
  queue.add({ evict: () => evicted.push(4) }, 1_000)
  assert.deepEqual(evicted, [0, 1, 2, 3, 4], 'what is too large stays for nobody')
})

test('what nobody adds to empties itself after some turns', () => {
  const evicted: number[] = []
  const queue = new EvictionQueue(100)
  queue.add({ evict: () => evicted.push(0) }, 1)
  queue.tidy()
  queue.add({ evict: () => evicted.push(1) }, 1)
  for (let turn = 1; turn < TURNS_KEPT; turn++) queue.tidy()
  assert.deepEqual(evicted, [])
  queue.tidy()
  assert.deepEqual(evicted, [0])
  queue.tidy()
  assert.deepEqual(evicted, [0, 1])
  queue.tidy()
  assert.deepEqual(evicted, [0, 1])
})
