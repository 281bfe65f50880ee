/**
 * Tests a conversion webhook that is configured with a Service. The server connects to the cluster
 * IP, and verifies the certificate for the name of the Service.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSelfSigned } from '../../src/lib/x509/certificates.ts'
import { clients, startTestServer } from './support.ts'

/** Cluster IP of the webhook. It is a loopback address, so that the test can listen on it. */
const CLUSTER_IP = '127.0.77.9'

function converted(body: string): string {
  const { uid, desiredAPIVersion, objects } = JSON.parse(body).request
  const convertedObjects = objects.map((object: object) => ({
    ...object,
    apiVersion: desiredAPIVersion,
  }))
  const response = { uid, result: { status: 'Success' }, convertedObjects }
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    response,
  })
}

const version = (name: string, storage: boolean): object => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', description: name } },
})

test('the Service of a conversion webhook is resolved without DNS', {
  timeout: 120_000,
}, async () => {
  const { certificatePem: cert, keyPem: key } = createSelfSigned(
    'hook',
    ['hook.default.svc'],
    Date.now(),
  )
  const hosts: (string | undefined)[] = []
  const webhook = createServer({ cert, key }, (request, response) => {
    hosts.push(request.headers.host)
    void text(request).then((body) => response.end(converted(body)))
  })
  webhook.listen(0, CLUSTER_IP)
  await once(webhook, 'listening')
  await using stack = new AsyncDisposableStack()
  stack.defer(() => {
    webhook.closeAllConnections()
    webhook.close()
  })
  const address = webhook.address()
  assert.ok(typeof address === 'object' && address !== null)
  const { port } = address
  await using server = await startTestServer(['--service-cluster-ip-range=127.0.77.0/24'])
  await using client = (clients['HTTP/2'] ?? assert.fail())(server.url)
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await client.call({ method: 'POST', path, body })
    assert.equal(answer.status, 201, answer.text)
  }
  await post('/api/v1/namespaces/default/services', {
    metadata: { name: 'hook' },
    spec: { clusterIP: CLUSTER_IP, ports: [{ port }] },
  })
  const service = { name: 'hook', namespace: 'default', path: '/convert', port }
  const clientConfig = { service, caBundle: Buffer.from(cert).toString('base64') }
  await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'wheels.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'wheels', kind: 'Wheel' },
      versions: [version('v1', true), version('v2', false)],
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig, conversionReviewVersions: ['v1'] },
      },
    },
  })
  while ((await client.call({ path: '/apis/example.com/v2/wheels' })).status !== 200)
    await sleep(20)
  await post('/apis/example.com/v1/wheels', {
    apiVersion: 'example.com/v1',
    kind: 'Wheel',
    metadata: { name: 'w' },
  })
  const found = await client.call({ path: '/apis/example.com/v2/wheels/w' })
  assert.equal(found.status, 200, found.text)
  assert.equal(JSON.parse(found.text).apiVersion, 'example.com/v2')
  assert.deepEqual(hosts, [`hook.default.svc:${port}`])
})
