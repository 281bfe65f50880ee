import assert from 'node:assert/strict'
import test from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { addressOf, endpointOf } from './service-address.ts'
import type { EndpointSubset, ServiceEndpoints } from './service-endpoints.ts'

const place = { namespace: 'default', name: 'hook', port: 443 }
const service = (spec: Fields): KubeObject => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: { name: 'hook' },
  spec: {
    type: 'ClusterIP',
    clusterIP: '10.0.0.7',
    ports: [{ port: 443, targetPort: 8443 }],
    ...spec,
  },
})

test('a Service is reached at its cluster IP, or at its external name', () => {
  const address = { host: '10.0.0.7', port: 443 }
  assert.deepEqual(addressOf(service({}), place), address)
  assert.deepEqual(addressOf(service({ type: 'LoadBalancer' }), place), address)
  const external = service({ type: 'ExternalName', externalName: 'hook.example.com', ports: [] })
  assert.deepEqual(addressOf(external, place), { host: 'hook.example.com', port: 443 })
})

test('the error message explains why a Service cannot be reached', () => {
  assert.equal(addressOf(undefined, place), 'service "hook" not found')
  assert.equal(
    addressOf(service({}), { ...place, port: 8443 }),
    'no service port 8443 found for service "hook"',
  )
  assert.equal(
    addressOf(service({ clusterIP: 'None' }), place),
    'cannot route to service with ClusterIP "None"',
  )
})

const endpoints = (...subsets: EndpointSubset[]): ServiceEndpoints => ({
  source: 'endpoints',
  subsets,
})
const named = service({ clusterIP: 'None', ports: [{ name: 'https', port: 443 }] })
const ready: EndpointSubset = {
  ready: ['10.1.0.1', '10.1.0.2'],
  ports: [{ name: 'https', port: 8443 }],
}

test('endpointOf returns a ready address with the named port, even for a headless Service', () => {
  const notReady: EndpointSubset = { ready: [], ports: ready.ports }
  const other: EndpointSubset = { ready: ['10.1.0.8'], ports: [{ name: 'http', port: 80 }] }
  for (const [random, host] of [
    [0, '10.1.0.1'],
    [0.99, '10.1.0.2'],
  ] as const) {
    const routing = { endpoints: endpoints(notReady, other, ready), random: () => random }
    assert.deepEqual(endpointOf(named, place, routing), { host, port: 8443 })
  }
})

test('endpointOf prefers addresses of the primary IP family of the Service', () => {
  const dual = service({ ports: [{ name: 'https', port: 443 }], ipFamilies: ['IPv6', 'IPv4'] })
  const subsets = [
    { ...ready, family: 'IPv4' },
    { ...ready, family: 'IPv6', ready: ['fd00::1'] },
  ]
  const routing = { endpoints: { source: 'endpointslices', subsets }, random: () => 0 } as const
  assert.deepEqual(endpointOf(dual, place, routing), { host: 'fd00::1', port: 8443 })
})

test('the error message explains why a Service has no endpoint', () => {
  const routing = { endpoints: endpoints(), random: () => 0 }
  const none: ServiceEndpoints = { source: 'endpoints', subsets: undefined }
  assert.equal(endpointOf(undefined, place, routing), 'service "hook" not found')
  assert.equal(
    endpointOf(named, place, { ...routing, endpoints: none }),
    'endpoints "hook" not found',
  )
  assert.equal(
    endpointOf(named, place, { ...routing, endpoints: { ...none, source: 'endpointslices' } }),
    'no endpoints available for service "hook"',
  )
  assert.equal(endpointOf(named, place, routing), 'no endpoints available for service "hook"')
  assert.equal(
    endpointOf(named, { ...place, port: 1 }, routing),
    'no service port 1 found for service "hook"',
  )
  const external = service({ type: 'ExternalName', externalName: 'hook.example.com' })
  assert.equal(endpointOf(external, place, routing), 'unsupported service type "ExternalName"')
})
