import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/errors.ts'
import { type Fields, itemsOf } from '../../api/object.ts'
import { NumberSet } from './number-set.ts'
import { assignPorts, portsHeld } from './service-ports.ts'

const range = { first: 30_000, last: 30_049 }
const pool = (...taken: readonly number[]): NumberSet => {
  const ports = new NumberSet(range, Buffer.alloc(0), () => 0)
  for (const port of taken) ports.take(port)
  return ports
}
const nodePorts = (spec: Fields): unknown[] =>
  itemsOf(spec['ports']).map(({ nodePort }) => nodePort)
const spec = (ports: readonly Fields[], more: Fields = {}): Fields => ({
  type: 'NodePort',
  ports,
  ...more,
})

test('if a port number has several protocols, they share one node port', () => {
  const dns = [
    { port: 53, protocol: 'UDP' },
    { port: 53, protocol: 'TCP', nodePort: 30_005 },
  ]
  const assigned = assignPorts('s', spec(dns), undefined, pool())
  assert.deepEqual(nodePorts(assigned.spec), [30_005, 30_005])
  assert.deepEqual(assigned.taken, [30_005])
})

test('the server chooses node ports above those that are reserved for clients', () => {
  const { taken } = assignPorts('s', spec([{ port: 1 }, { port: 2 }]), undefined, pool())
  assert.deepEqual(taken, [30_016, 30_017])
})

function refuse(port: number, message: RegExp): void {
  const wanted = spec([{ port: 1 }, { port: 2, nodePort: port }])
  assert.throws(
    () => assignPorts('s', wanted, undefined, pool(30_001)),
    (error) => error instanceof ApiError && error.code === 422 && message.test(error.message),
  )
}

test('the error for a port that is allocated or out of range contains the field path', () => {
  refuse(
    30_001,
    /spec\.ports\[1\]\.nodePort: Invalid value: 30001: provided port is already allocated/,
  )
  refuse(80, /not in the valid range. The range of valid ports is 30000-30049/)
})

test('an update allocates only node ports that the Service does not have yet', () => {
  const before = spec([{ port: 1, nodePort: 30_001 }])
  const after = spec([{ port: 1, nodePort: 30_001 }, { port: 2, nodePort: 30_002 }, { port: 3 }])
  assert.deepEqual(assignPorts('s', after, before, pool(30_001)).taken, [30_002, 30_016])
})

test('a load balancer Service can have a health check port without other node ports', () => {
  const balancer = {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    allocateLoadBalancerNodePorts: false,
  }
  const { spec: assigned, taken } = assignPorts(
    's',
    spec([{ port: 1 }], balancer),
    undefined,
    pool(),
  )
  assert.deepEqual(nodePorts(assigned), [undefined])
  assert.equal(assigned['healthCheckNodePort'], taken[0])
  assert.deepEqual(portsHeld(assigned), taken)
})

test('node port allocation fails with an error if all ports are taken', () => {
  const all = Array.from({ length: 50 }, (_, at) => range.first + at)
  assert.throws(
    () => assignPorts('s', spec([{ port: 1 }]), undefined, pool(...all)),
    /range is full/,
  )
})
