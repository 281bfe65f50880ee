import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEgressConfiguration } from './egress.ts'

const readTcp = (tcp: object) =>
  readEgressConfiguration(
    Buffer.from(
      JSON.stringify({
        apiVersion: 'apiserver.k8s.io/v1beta1',
        kind: 'EgressSelectorConfiguration',
        egressSelections: [
          { name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport: { tcp } } },
        ],
      }),
    ),
  )

test('connections to a proxy with an http:// URL do not use TLS', () => {
  const proxy = { protocol: 'http-connect', transport: 'tcp', tls: null } as const
  const withPort = { value: { cluster: { ...proxy, address: 'proxy:8131' } } }
  assert.deepEqual(readTcp({ url: 'http://proxy:8131' }), withPort)
  assert.deepEqual(readTcp({ url: 'http://proxy' }), {
    value: { cluster: { ...proxy, address: 'proxy' } },
  })
})

test('a proxy with an http:// URL must not have a TLS configuration', () => {
  const read = readTcp({ url: 'http://proxy:8131', tlsConfig: {} })
  assert.ok('fault' in read)
  assert.match(read.fault, /TLSConfig config should not be present when using HTTP/)
})
