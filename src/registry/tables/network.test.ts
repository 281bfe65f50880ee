import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { networkTables } from './network.ts'

const tables = new Map(networkTables)

function cellsOf(kind: string, fields: Fields): readonly unknown[] {
  const object: KubeObject = { apiVersion: 'v1', kind, metadata: { name: 'x' }, ...fields }
  return tables.get(kind)?.cells(object) ?? []
}

test('in the table of Endpoints, each combination of an address and a port counts as an endpoint', () => {
  const addresses = [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }]
  const ports = [{ port: 80 }, { port: 443 }]
  const [, one] = cellsOf('Endpoints', { subsets: [{ addresses, ports }] })
  assert.equal(one, '10.0.0.1:80,10.0.0.2:80,10.0.0.1:443 + 1 more...')
  const [, two] = cellsOf('Endpoints', {
    subsets: [{ addresses }, { ports }, { addresses: [{ ip: 'fd00::1' }], ports }],
  })
  assert.equal(two, '10.0.0.1,10.0.0.2,[fd00::1]:80 + 1 more...')
  assert.equal(cellsOf('Endpoints', { subsets: [{ ports }] })[1], '')
  assert.equal(cellsOf('Endpoints', {})[1], '<none>')
})

test('many endpoints are counted without listing them', () => {
  const addresses = Array.from({ length: 30_000 }, () => ({ ip: '10.0.0.1' }))
  const ports = Array.from({ length: 30_000 }, () => ({ port: 80 }))
  const [, shown] = cellsOf('Endpoints', { subsets: [{ addresses, ports }] })
  assert.equal(shown, '10.0.0.1:80,10.0.0.1:80,10.0.0.1:80 + 899999997 more...')
})
