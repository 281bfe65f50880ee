import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CacheCeiling } from './ceiling.ts'

test('hasRoom drops resources from the cache until there is room or no resource is left', () => {
  let used = 150
  const dropped = [30, 40]
  const dropOne = (): boolean => {
    const bytes = dropped.shift()
    used -= bytes ?? 0
    return bytes !== undefined
  }
  const ceiling = new CacheCeiling({
    bytesMax: 100,
    usedBytes: () => used,
    isReleasing: () => false,
    dropOne,
    clock: { monotonicMs: () => 0 },
  })
  assert.ok(ceiling.hasRoom())
  assert.equal(used, 80)
  used = 120
  assert.ok(!ceiling.hasRoom())
})

test('a resource that did not fit into memory is not loaded again for a minute', () => {
  let nowMs = 0
  const parts = {
    bytesMax: 100,
    usedBytes: () => 0,
    isReleasing: () => false,
    dropOne: () => false,
    clock: { monotonicMs: () => nowMs },
  }
  const ceiling = new CacheCeiling(parts)
  assert.ok(!ceiling.leavesOut('/registry/pods/'))
  ceiling.leaveOut('/registry/pods/')
  assert.ok(ceiling.leavesOut('/registry/pods/'))
  assert.equal(ceiling.leftOut, 1)
  nowMs = 60_000
  assert.ok(!ceiling.leavesOut('/registry/pods/'))
  assert.equal(ceiling.leftOut, 0)
})

test('no further resource is dropped from the cache while the objects of another resource are being released', () => {
  let isReleasing = false
  const ceiling = new CacheCeiling({
    bytesMax: 100,
    usedBytes: () => 150,
    isReleasing: () => isReleasing,
    dropOne: () => {
      assert.ok(!isReleasing)
      isReleasing = true
      return true
    },
    clock: { monotonicMs: () => 0 },
  })
  assert.ok(ceiling.hasRoom())
  assert.ok(isReleasing)
})
