/**
 * Tests that the server does not follow redirects of webhooks and kubelets (CVE-2018-1002102,
 * CVE-2020-8559, CVE-2020-8561, CVE-2022-3172). A redirect could disclose the server's credentials,
 * or lead to hosts that the client cannot reach. A rejected upgrade must leave no connection behind
 * (CVE-2018-1002105).
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpsRequest, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSelfSigned } from '../../src/lib/x509/certificates.ts'
import { adminToken, type Client, clients, startTestServer, type TestServer } from './support.ts'

const { certificatePem: cert, keyPem: key } = createSelfSigned(
  'elsewhere',
  ['127.0.0.1'],
  Date.now(),
)
const folder = mkdtempSync(join(tmpdir(), 'keelson-redirects-'))
const parts = new AsyncDisposableStack()
/**
 * Everything that must not arrive at a server: requests that follow a redirect, and data that a
 * client sends after a rejected upgrade.
 */
const lured: string[] = []
let elsewhere: string
let redirecting: string
let server: TestServer
let client: Client

async function listen(one: Server): Promise<string> {
  one.listen(0, '127.0.0.1')
  await once(one, 'listening')
  parts.defer(async () => {
    const closed = once(one, 'close')
    one.close()
    one.closeAllConnections()
    await closed
  })
  const address = one.address()
  assert.ok(typeof address === 'object' && address !== null)
  return `https://127.0.0.1:${address.port}`
}

const kubeconfig = (url: string): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [
    {
      name: 'hook',
      cluster: { server: url, 'certificate-authority-data': Buffer.from(cert).toString('base64') },
    },
  ],
  users: [{ name: 'server', user: { token: 'token-of-the-server' } }],
  contexts: [{ name: 'hook', context: { cluster: 'hook', user: 'server' } }],
  'current-context': 'hook',
})

before(async () => {
  elsewhere = await listen(
    createServer({ cert, key }, (request, response) => {
      lured.push(`${request.method} ${request.url} ${request.headers.authorization ?? 'nobody'}`)
      response.end('{}')
    }),
  )
  const hook = createServer({ cert, key }, (request, response) => {
    const status = Number(/\d{3}/.exec(request.url ?? '')?.[0] ?? 302)
    request
      .resume()
      .on('end', () => response.writeHead(status, { location: `${elsewhere}/lured` }).end('{}'))
  })
  // Record data that a client sends after a rejected upgrade. The server must not forward this
  // data.
  hook.on('upgrade', (request, socket) => {
    socket.on('data', (data: Buffer) => lured.push(data.toString()))
    socket.on('error', () => undefined)
    const code = request.url?.includes('moved')
      ? `302 Found\r\nlocation: ${elsewhere}/lured`
      : '403 Forbidden'
    socket.write(`HTTP/1.1 ${code}\r\nconnection: close\r\ncontent-length: 2\r\n\r\nno`)
  })
  redirecting = await listen(hook)
  const access = join(folder, 'access.json')
  writeFileSync(access, JSON.stringify(kubeconfig(`${redirecting}/307`)))
  const tokens = join(folder, 'tokens.json')
  writeFileSync(tokens, JSON.stringify(kubeconfig(`${redirecting}/302`)))
  const flags = [
    '--authorization-mode=RBAC,Webhook',
    `--authorization-webhook-config-file=${access}`,
    `--authentication-token-webhook-config-file=${tokens}`,
  ]
  server = parts.use(await startTestServer(flags, { findHost: async () => '127.0.0.1' }))
  client = parts.use(clients['HTTP/2']?.(server.url) ?? assert.fail('there is a client'))
  const { port } = new URL(redirecting)
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: Number(port) } },
  }
  await client.call({
    method: 'POST',
    path: '/api/v1/nodes',
    body: { metadata: { name: 'n' }, status },
  })
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] }
  const pods = '/api/v1/namespaces/default/pods'
  assert.equal(
    (await client.call({ method: 'POST', path: pods, body: { metadata: { name: 'p' }, spec } }))
      .status,
    201,
  )
})

after(async () => {
  await parts.disposeAsync()
  rmSync(folder, { recursive: true })
})

const pod = '/api/v1/namespaces/default/pods/p'

test('attack: a redirect by an authorization webhook is not followed', {
  timeout: 120_000,
}, async () => {
  const { status } = await client.call({
    path: '/api/v1/namespaces/default/pods',
    token: 'bob-token',
  })
  assert.equal(status, 500)
  assert.deepEqual(lured, [])
})

test('attack: a redirect by a token webhook is not followed', { timeout: 120_000 }, async () => {
  assert.equal((await client.call({ path: '/api', token: 'unknown' })).status, 401)
  assert.deepEqual(lured, [])
})

const version = (name: string): object => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object' } },
})

test('attack: a redirect by a conversion webhook is not followed', {
  timeout: 120_000,
}, async () => {
  const definition = {
    metadata: { name: 'lures.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'lures', kind: 'Lure' },
      versions: [version('v1'), version('v2')],
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: {
            url: `${redirecting}/308`,
            caBundle: Buffer.from(cert).toString('base64'),
          },
        },
      },
    },
  }
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  assert.equal(
    (await client.call({ method: 'POST', path: definitions, body: definition })).status,
    201,
  )
  while ((await client.call({ path: '/apis/example.com/v1/lures' })).status !== 200) await sleep(20)
  const lure = { apiVersion: 'example.com/v1', kind: 'Lure', metadata: { name: 'a' } }
  assert.equal(
    (await client.call({ method: 'POST', path: '/apis/example.com/v1/lures', body: lure })).status,
    201,
  )
  assert.equal((await client.call({ path: '/apis/example.com/v2/lures/a' })).status, 500)
  assert.deepEqual(lured, [])
})

test('attack: a redirect by a kubelet is not followed, neither for logs nor for proxied requests', {
  timeout: 120_000,
}, async () => {
  for (const path of [`${pod}/log`, '/api/v1/nodes/n/proxy/301', '/api/v1/nodes/n/proxy/307']) {
    const { status, headers } = await client.call({ path })
    assert.notEqual(status, 200, path)
    // The response may contain the location of the redirect. This is safe, because a client that
    // follows the redirect uses its own credentials.
    if (headers['location'] !== undefined) assert.equal(headers['location'], `${elsewhere}/lured`)
  }
  assert.deepEqual(lured, [])
})

for (const [what, path] of [
  ['is refused', `${pod}/exec?command=ls&stdout=true`],
  ['is redirected', '/api/v1/nodes/n/proxy/moved'],
] as const) {
  test(`attack: an upgrade that ${what} leaves no connection to the backend`, {
    timeout: 120_000,
  }, async () => {
    const { hostname, port } = new URL(server.url)
    const headers = {
      connection: 'Upgrade',
      upgrade: 'SPDY/3.1',
      authorization: `Bearer ${adminToken}`,
    }
    const request = httpsRequest({
      hostname,
      port,
      path,
      headers,
      rejectUnauthorized: false,
      agent: false,
    })
    request.end()
    const [response] = await once(request, 'response')
    assert.notEqual(response.statusCode, 101)
    response.resume()
    const { socket } = response
    socket.on('error', () => undefined)
    socket.write('GET /runningpods/ HTTP/1.1\r\nhost: kubelet\r\n\r\n')
    await sleep(200)
    request.destroy()
    assert.deepEqual(lured, [])
  })
}
