import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import { ObservedLease } from './observed-lease.ts'

const lease = (resourceVersion: string, holderIdentity: string): KubeObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { uid: 'u', resourceVersion },
  spec: { holderIdentity, leaseDurationSeconds: 10, renewTime: '2001-01-01T00:00:00.000000Z' },
})

test('a Lease is valid for its duration after its last observed change, regardless of its renewTime', () => {
  const observed = new ObservedLease()
  observed.observe(undefined, 0)
  assert.ok(!observed.isHeld(0))
  observed.observe(lease('1', 'one'), 1_000)
  observed.observe(lease('1', 'one'), 9_000)
  assert.ok(observed.isHeld(10_999))
  assert.ok(!observed.isHeld(11_000))
  observed.observe(lease('2', 'one'), 12_000)
  assert.deepEqual([observed.isHeld(12_000), observed.holder], [true, 'one'])
  observed.observe(lease('3', ''), 13_000)
  assert.ok(!observed.isHeld(13_000))
})
