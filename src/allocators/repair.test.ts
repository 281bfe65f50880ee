import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import { addressOf } from './cluster-ips.ts'
import { NumberSet } from './number-set.ts'
import { Repair } from './repair.ts'

const service = (name: string, ip: string, nodePort: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'n', name },
  spec: { type: 'NodePort', clusterIPs: [ip], ports: [{ port: 1, nodePort }] },
})

const address = (ip: string, name: string, created: string): KubeObject => {
  const made = addressOf(ip, 'IPv4', { namespace: 'n', name })
  return { ...made, metadata: { ...made.metadata, uid: `uid-${ip}`, creationTimestamp: created } }
}

test('what a service has is taken, what nobody has is given back, but not at once', async () => {
  const ports = new NumberSet({ first: 30_000, last: 30_010 }, 0n, () => 0)
  ports.take(30_007)
  const freed: string[] = []
  const created: string[] = []
  const old = '2020-01-01T00:00:00Z'
  const recent = '2020-01-01T00:09:30Z'
  const foreign = { ...address('10.0.0.9', 'x', old), metadata: { name: '10.0.0.9', creationTimestamp: old } }
  const repair = new Repair({
    nodePorts: { change: async (change) => change(ports) },
    listServices: async () => [service('a', '10.0.0.2', 30_001)],
    listAddresses: async () => [address('10.0.0.3', 'gone', old), address('10.0.0.4', 'coming', recent), foreign],
    createAddress: async ({ metadata }) => created.push(metadata.name ?? '') > 0,
    deleteAddress: async (ip) => {
      freed.push(ip)
    },
    readAddress: async () => undefined,
    records: { add: async () => undefined, reset: async () => undefined },
    life: () => 0,
    wallMs: () => Date.parse('2020-01-01T00:10:00Z'),
    log: () => undefined,
  })
  await repair.pass()
  assert.deepEqual(created, ['10.0.0.2'])
  assert.deepEqual(freed, ['10.0.0.3'])
  assert.deepEqual(ports.list(), [30_001, 30_007])
  await repair.pass()
  assert.deepEqual(ports.list(), [30_001, 30_007])
  await repair.pass()
  assert.deepEqual(ports.list(), [30_001])
})

test('a port that nobody had in another database has its passes in this one', async () => {
  const ports = new NumberSet({ first: 30_000, last: 30_010 }, 0n, () => 0)
  ports.take(30_007)
  let life = 0
  const repair = new Repair({
    nodePorts: { change: async (change) => change(ports) },
    listServices: async () => [],
    listAddresses: async () => [],
    createAddress: async () => true,
    deleteAddress: async () => undefined,
    readAddress: async () => undefined,
    records: { add: async () => undefined, reset: async () => undefined },
    life: () => life,
    wallMs: () => 0,
    log: () => undefined,
  })
  await repair.pass()
  await repair.pass()
  life++
  await repair.pass()
  await repair.pass()
  assert.deepEqual(ports.list(), [30_007])
  await repair.pass()
  assert.deepEqual(ports.list(), [])
})
