import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGates } from '../../../api/gates.ts'
import type { KubeObject } from '../../../api/object.ts'
import { nodeRules, withoutEmptyAllocatable } from './node.ts'

const nodeWith = (...addresses: readonly { type: string; address: string }[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'x' },
  status: { addresses },
})

function faultyPaths(node: KubeObject): unknown {
  return nodeRules.validateUpdate?.(node, node, defaultGates).map(({ path }) => path)
}

test('a node address is a duplicate if another address has the same type and value', () => {
  const first = { type: 'Hostname a', address: 'b' }
  assert.deepEqual(faultyPaths(nodeWith(first, { type: 'Hostname', address: 'a b' })), [])
  assert.deepEqual(faultyPaths(nodeWith(first, { ...first })), ['status.addresses[1]'])
})

test('an empty status.allocatable of a Node is stored as if it were absent', () => {
  const capacity = { cpu: '1' }
  const node = { ...nodeWith(), status: { capacity, allocatable: {} } }
  assert.deepEqual(withoutEmptyAllocatable(node)['status'], { capacity })
})
