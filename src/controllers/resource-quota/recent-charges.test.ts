import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printResourceList } from '../../api/resource-list.ts'
import { atOnce } from '../../lib/scheduling/slices.ts'
import { RecentCharges, STORED_MS } from './recent-charges.ts'

let nowMs = 0

/** Records the amounts of one quota. The result returns the recent increases. */
function recording() {
  const recent = new RecentCharges(() => nowMs)
  return {
    record: (used: { [name: string]: string }) => atOnce(recent.record('q', { used })),
    read: () => {
      const charges = recent.of('q')
      return charges && { ...printResourceList(charges) }
    },
  }
}

test('increases are added up until the objects must be stored', () => {
  const { record, read } = recording()
  record({ pods: '1', memory: '1Gi' })
  nowMs += STORED_MS
  assert.deepEqual(read(), {})
  record({ pods: '3', memory: '1Gi' })
  nowMs += STORED_MS / 2
  record({ pods: '4', memory: '3Gi', services: '1' })
  assert.deepEqual(read(), { pods: '3', memory: '2Gi', services: '1' })
  nowMs += STORED_MS / 2
  assert.deepEqual(read(), { pods: '1', memory: '2Gi', services: '1' })
  nowMs += STORED_MS / 2
  assert.deepEqual(read(), {})
})

test('a decrease does not hide an increase', () => {
  const { record, read } = recording()
  record({ pods: '5' })
  nowMs += STORED_MS
  record({ pods: '6' })
  record({ pods: '2' })
  assert.deepEqual(read(), { pods: '1' })
})

test('an increase lasts as long as the last of those that are added up with it', () => {
  const { record, read } = recording()
  record({ pods: '0' })
  nowMs += STORED_MS
  for (let pods = 1; pods <= 10; pods++) {
    record({ pods: String(pods) })
    nowMs += 1
  }
  nowMs += STORED_MS - 2
  assert.deepEqual(read(), { pods: '10' })
  nowMs += 2
  assert.deepEqual(read(), {})
})

test('the increases of a quota are unknown at first', () => {
  const { record, read } = recording()
  assert.equal(read(), undefined)
  record({ pods: '5' })
  assert.equal(read(), undefined)
  nowMs += STORED_MS
  assert.deepEqual(read(), {})
})
