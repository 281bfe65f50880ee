import assert from 'node:assert/strict'
import test from 'node:test'
import type { Fields, KubeObject } from '../api/object.ts'
import { addressOf } from './service-address.ts'

const place = { namespace: 'default', name: 'hook', port: 443 }
const service = (spec: Fields): KubeObject => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: { name: 'hook' },
  spec: { type: 'ClusterIP', clusterIP: '10.0.0.7', ports: [{ port: 443, targetPort: 8443 }], ...spec },
})

test('a Service is reached by its cluster IP, or by the name it stands for', () => {
  const address = { host: '10.0.0.7', port: 443 }
  assert.deepEqual(addressOf(service({}), place), address)
  assert.deepEqual(addressOf(service({ type: 'LoadBalancer' }), place), address)
  const external = service({ type: 'ExternalName', externalName: 'hook.example.com', ports: [] })
  assert.deepEqual(addressOf(external, place), { host: 'hook.example.com', port: 443 })
})

test('what cannot be reached says why', () => {
  assert.equal(addressOf(undefined, place), 'service "hook" not found')
  assert.equal(addressOf(service({}), { ...place, port: 8443 }), 'no service port 8443 found for service "hook"')
  assert.equal(addressOf(service({ clusterIP: 'None' }), place), 'cannot route to service with ClusterIP "None"')
})
