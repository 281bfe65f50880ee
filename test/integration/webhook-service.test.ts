/**
 * Tests an admission webhook that is configured with a Service. The server connects to the cluster
 * IP, uses the given port and path, and verifies the certificate for the name of the Service.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { createSelfSigned } from '../../src/lib/x509/certificates.ts'
import { portOf } from '../support/harness/port-of.ts'
import { type Answer, clients, startTestServer } from './support.ts'

/** Cluster IP of the webhook. It is a loopback address, so that the test can listen on it. */
const CLUSTER_IP = '127.0.78.9'
const admission = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'

const { certificatePem: cert, keyPem: key } = createSelfSigned(
  'hook',
  ['hook.default.svc'],
  Date.now(),
)

/**
 * Starts a webhook that denies all requests and records the server name and the path of each call.
 */
async function startWebhook(
  stack: AsyncDisposableStack,
): Promise<{ readonly port: number; readonly calls: readonly unknown[] }> {
  const calls: unknown[] = []
  const webhook = createServer({ cert, key }, (request, response) => {
    const { socket, headers, url } = request
    calls.push([socket instanceof TLSSocket ? socket.servername : undefined, headers.host, url])
    void text(request).then((body) => {
      const { apiVersion, kind, request: asking } = JSON.parse(body)
      const answer = { uid: asking.uid, allowed: false, status: { message: 'by the service' } }
      response.end(JSON.stringify({ apiVersion, kind, response: answer }))
    })
  })
  webhook.listen(0, CLUSTER_IP)
  await once(webhook, 'listening')
  stack.defer(() => {
    webhook.closeAllConnections()
    webhook.close()
  })
  return { port: portOf(webhook), calls }
}

/** Returns a configuration with one webhook that refers to a Service. */
const configurationOf = (name: string, service: object): object => ({
  metadata: { name },
  webhooks: [
    {
      name: `${name}.example.com`,
      clientConfig: {
        service: { namespace: 'default', ...service },
        caBundle: Buffer.from(cert).toString('base64'),
      },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      rules: [
        { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
      ],
    },
  ],
})

test('a webhook with a Service is called at the cluster IP with the name of the Service', {
  timeout: 120_000,
}, async () => {
  await using stack = new AsyncDisposableStack()
  const { port, calls } = await startWebhook(stack)
  await using server = await startTestServer(['--service-cluster-ip-range=127.0.78.0/24'])
  await using client = (clients['HTTP/2'] ?? assert.fail())(server.url)
  const send = (method: string, path: string, body?: object): Promise<Answer> =>
    client.call({ method, path, ...(body === undefined ? {} : { body }) })
  const create = (): Promise<Answer> =>
    send('POST', '/api/v1/namespaces/default/configmaps?dryRun=All', { metadata: { name: 'c' } })
  const configure = async (name: string, service: object): Promise<void> => {
    const { status, text: said } = await send('POST', admission, configurationOf(name, service))
    assert.equal(status, 201, said)
  }
  const service = { metadata: { name: 'hook' }, spec: { clusterIP: CLUSTER_IP, ports: [{ port }] } }
  assert.equal((await send('POST', '/api/v1/namespaces/default/services', service)).status, 201)

  await configure('right', { name: 'hook', port, path: '/validate/it' })
  const refused = await create()
  assert.equal(refused.status, 400, refused.text)
  assert.match(refused.text, /right.example.com\\" denied the request: by the service/)
  assert.deepEqual(calls, [
    ['hook.default.svc', `hook.default.svc:${port}`, '/validate/it?timeout=10s'],
  ])
  await send('DELETE', `${admission}/right`)

  await configure('port', { name: 'hook', port: 1 })
  assert.match((await create()).text, /no service port 1 found for service \\"hook\\"/)
  await send('DELETE', `${admission}/port`)

  await configure('gone', { name: 'nope', port })
  assert.match((await create()).text, /service \\"nope\\" not found/)
  await send('DELETE', `${admission}/gone`)
  assert.equal((await create()).status, 201)
})
