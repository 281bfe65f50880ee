import assert from 'node:assert/strict'
import test from 'node:test'
import { MemoryObjects } from '../../../test/support/harness/admission.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import { createGetEndpoints } from './service-endpoints.ts'

const objects = new MemoryObjects()
const ports = [{ name: 'https', port: 8443 }]
const named = (kind: string, name: string, fields: Fields): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'n', labels: { 'kubernetes.io/service-name': 's' } },
  ...fields,
})
objects.put(
  'endpoints',
  'n',
  named('Endpoints', 's', {
    subsets: [{ addresses: [{ ip: '10.1.0.1' }], notReadyAddresses: [{ ip: '10.1.0.2' }], ports }],
  }),
)
objects.put(
  'endpointslices',
  'n',
  named('EndpointSlice', 's-1', {
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['10.1.0.3', '10.1.0.4'] },
      { addresses: ['10.1.0.5'], conditions: { ready: false } },
    ],
    ports: [...ports, { name: 'any' }],
  }),
)

test('before 1.34, the endpoints of a Service are in its Endpoints', async () => {
  const get = createGetEndpoints(objects, 33)
  const subsets = [{ ready: ['10.1.0.1'], ports }]
  assert.deepEqual(await get('n', 's'), { source: 'endpoints', subsets })
  assert.deepEqual(await get('n', 't'), { source: 'endpoints', subsets: undefined })
})

test('since 1.34, the endpoints of a Service are in its EndpointSlices', async () => {
  const get = createGetEndpoints(objects, 34)
  const subsets = [{ family: 'IPv4', ready: ['10.1.0.3'], ports }]
  assert.deepEqual(await get('n', 's'), { source: 'endpointslices', subsets })
  assert.deepEqual(await get('n', 't'), { source: 'endpointslices', subsets: undefined })
})
