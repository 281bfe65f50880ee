/**
 * Tests a server with a node: requests to the node's kubelet, their responses, and connections that
 * either side closes.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { OutgoingHttpHeaders } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex, Readable, Writable } from 'node:stream'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAuthority } from '../../src/lib/x509/certificates.ts'
import { createFindHost } from '../../src/request/verbs/subresources/find-host.ts'
import { type Kubelet, startKubelet } from '../support/harness/kubelet.ts'
import {
  adminToken,
  type Answer,
  type Client,
  clients,
  startReplica,
  startTestServer,
  type TestServer,
} from './support.ts'

let server: TestServer
let kubelet: Kubelet
let client: Client

before(async () => {
  kubelet = await startKubelet()
  const flags = ['--disable-admission-plugins=ServiceAccount', '--request-timeout=1s']
  // Resolve these two host names to the kubelet of this test, which runs on this machine. By
  // default, the server rejects addresses of its own machine.
  const near = ['127.0.0.1', 'node.example.com']
  const findHost = createFindHost(async (host) => [host])
  server = await startTestServer(flags, {
    findHost: async (host) => (near.includes(host) ? '127.0.0.1' : findHost(host)),
  })
  client = clients['HTTP/2']?.(server.url) ?? assert.fail('there is a client')
  const post = (path: string, body: object): Promise<Answer> =>
    client.call({ method: 'POST', path, body })
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
  }
  await post('/api/v1/namespaces', { metadata: { name: 'k' } })
  assert.equal((await post('/api/v1/nodes', { metadata: { name: 'n' }, status })).status, 201)
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] }
  assert.equal(
    (await post('/api/v1/namespaces/k/pods', { metadata: { name: 'p' }, spec })).status,
    201,
  )
})

after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await kubelet[Symbol.asyncDispose]()
})

const pod = '/api/v1/namespaces/k/pods/p'

test('the logs of a pod are read from the kubelet', async () => {
  const { status, headers, text } = await client.call({
    path: `${pod}/log?tailLines=2&timestamps=true`,
  })
  assert.deepEqual(
    [status, headers['content-type'], text],
    [200, 'text/plain', 'first line\nsecond line\n'],
  )
  assert.ok(kubelet.asked.includes('GET /containerLogs/k/p/c?timestamps=true&tailLines=2'))
})

test('logs of a kubelet with an untrusted certificate are read only if the client disables verification', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'keelson-kubelet-'))
  const ca = join(dir, 'ca.crt')
  await writeFile(ca, createAuthority('other', Date.now()).certificatePem)
  await using checking = await startReplica(server, [`--kubelet-certificate-authority=${ca}`])
  await using other = clients['HTTP/2']?.(checking.url) ?? assert.fail('there is a client')
  const refused = await other.call({ path: `${pod}/log` })
  assert.equal(refused.status, 500)
  assert.match(
    refused.text,
    /tls: failed to verify certificate: x509: certificate signed by unknown authority/,
  )
  const insisted = await other.call({ path: `${pod}/log?insecureSkipTLSVerifyBackend=true` })
  assert.deepEqual([insisted.status, insisted.text], [200, 'first line\nsecond line\n'])
  const { text: metrics } = await other.call({ path: '/metrics' })
  assert.deepEqual(metrics.match(/^kube_apiserver_pod_logs_.*/gm), [
    'kube_apiserver_pod_logs_backend_tls_failure_total 1',
    'kube_apiserver_pod_logs_insecure_backend_total{usage="enforce_tls"} 1',
    'kube_apiserver_pod_logs_insecure_backend_total{usage="skip_tls_allowed"} 1',
  ])
  await rm(dir, { recursive: true })
})

test("a proxied request is forwarded to the node without the client's token", async () => {
  const { status, headers, text } = await client.call({
    method: 'POST',
    path: '/api/v1/nodes/n/proxy/a%20b/c?d=e',
  })
  assert.deepEqual([status, headers['x-kubelet'], text], [418, 'yes', 'POST /a%20b/c?d=e nobody'])
  const { status: moved, headers: to } = await client.call({ path: '/api/v1/nodes/n/proxy' })
  assert.deepEqual([moved, to['location']], [301, '/api/v1/nodes/n/proxy/'])
})

test('the query of a proxied request is forwarded to the node unchanged', async () => {
  for (const query of ['wsdl', 'a=b%20c+d', 'a=%ff', '~a=~', 'a;b=c', "a='b'", '?x=1']) {
    const { text } = await client.call({ method: 'POST', path: `/api/v1/nodes/n/proxy/a?${query}` })
    assert.equal(text, `POST /a?${query} nobody`)
    const { headers } = await client.call({ path: `/api/v1/nodes/n/proxy?${query}` })
    assert.equal(headers['location'], `/api/v1/nodes/n/proxy/?${query}`)
  }
})

test('a node name cannot make the proxy connect to another host', async () => {
  for (const name of ['n:1@example.com', 'n:x', 'n:70000', 'http:n:1%2F', 'n:1%23']) {
    const { status } = await client.call({ path: `/api/v1/nodes/${name}/proxy/` })
    assert.ok(status === 400 || status === 404, `${name}: ${status}`)
  }
  const { status } = await client.call({ path: `${pod}:1@example.com/proxy/` })
  assert.equal(status, 400)
})

test("a node cannot make a proxy connect to the server's own machine", async () => {
  for (const [index, address] of [
    '127.0.0.2',
    '169.254.169.254',
    '224.0.0.9',
    '::1',
    '::ffff:127.0.0.1',
  ].entries()) {
    const name = `astray-${index}`
    const status = {
      addresses: [{ type: 'InternalIP', address }],
      daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
    }
    await client.call({
      method: 'POST',
      path: '/api/v1/nodes',
      body: { metadata: { name }, status },
    })
    for (const port of ['', `:${kubelet.port}`, ':9100']) {
      const { status: code, text } = await client.call({
        path: `/api/v1/nodes/${name}${port}/proxy/`,
      })
      assert.deepEqual(
        [code, text.includes('address not allowed')],
        [400, true],
        `${address}${port}`,
      )
    }
  }
})

/**
 * Tests the fix of CVE-2020-8562. Real DNS does not know the name of this node. The request would
 * therefore fail if the server resolved the name again after the verification.
 */
test('if a node has a host name, the server resolves it once, checks the address and connects to it', async () => {
  const status = { addresses: [{ type: 'Hostname', address: 'node.example.com' }] }
  await client.call({
    method: 'POST',
    path: '/api/v1/nodes',
    body: { metadata: { name: 'named' }, status },
  })
  const { status: code, text } = await client.call({
    path: `/api/v1/nodes/https:named:${kubelet.port}/proxy/x`,
  })
  assert.deepEqual([code, text], [418, 'GET /x nobody'])
})

test('an exec request that does not upgrade its connection is rejected', async () => {
  const { status, text } = await client.call({
    method: 'POST',
    path: `${pod}/exec?command=ls&stdout=true`,
  })
  assert.equal(status, 400)
  assert.match(text, /Upgrade request required/)
})

type OpenedSocket = { readonly status: number; readonly socket: Duplex | undefined }

function open(
  path: string,
  upgrade: string,
  more: OutgoingHttpHeaders = {},
): Promise<OpenedSocket> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url)
    const headers: OutgoingHttpHeaders = {
      connection: 'Upgrade',
      upgrade,
      authorization: `Bearer ${adminToken}`,
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...more,
    }
    const request = httpsRequest({
      hostname,
      port,
      path,
      headers,
      rejectUnauthorized: false,
      agent: false,
    })
    request.on('upgrade', ({ statusCode = 0 }, socket) => resolve({ status: statusCode, socket }))
    request.on('response', (message) => {
      message.resume()
      resolve({ status: message.statusCode ?? 0, socket: undefined })
    })
    request.on('error', reject)
    request.end()
  })
}

test('a token in the subprotocols of a WebSocket is not forwarded to the kubelet', async () => {
  const token = `base64url.bearer.authorization.k8s.io.${Buffer.from(adminToken).toString('base64url')}`
  const headers = {
    authorization: '',
    'sec-websocket-protocol': `v4.channel.k8s.io, ${token}, v5.channel.k8s.io`,
  }
  for (const path of [`${pod}/exec?command=ls`, '/api/v1/nodes/n/proxy/exec']) {
    const { status, socket } = await open(path, 'websocket', headers)
    assert.equal(status, 101)
    assert.equal(
      kubelet.upgrades.at(-1)?.['sec-websocket-protocol'],
      'v4.channel.k8s.io, v5.channel.k8s.io',
    )
    assert.ok(!JSON.stringify(kubelet.upgrades.at(-1)).includes(token))
    socket?.destroy()
  }
})

test('a connection to the kubelet is reused only if the previous request was sent completely', async () => {
  const { status } = await open('/api/v1/nodes/n/proxy/refused', 'websocket', {
    'content-length': 50,
  })
  assert.equal(status, 418)
  const { text } = await client.call({ path: '/api/v1/nodes/n/proxy/next' })
  assert.equal(text, 'GET /next nobody')
})

const token = { authorization: `Bearer ${adminToken}` }
const bigBytes = 20 * 1024 * 1024

/** Writes `bytes` as fast as they are accepted, and counts the accepted bytes in `taken`. */
async function pour(to: Writable, bytes: number, taken: { bytes: number }): Promise<void> {
  const chunk = Buffer.alloc(64 * 1024)
  for (let sent = 0; sent < bytes; sent += chunk.length) {
    if (!to.write(chunk, () => (taken.bytes += chunk.length))) await once(to, 'drain')
  }
  to.end()
}

function begin(
  kind: 'HTTP/1.1' | 'HTTP/2',
  path: string,
): { readonly to: Writable; readonly text: Promise<string> } & Disposable {
  if (kind === 'HTTP/2') {
    const session = connectHttp2(server.url, { rejectUnauthorized: false })
    const to = session.request({ ':method': 'POST', ':path': path, ...token })
    to.on('error', () => undefined)
    const answered = readAll(to)
    answered.catch(() => undefined)
    return { to, text: answered, [Symbol.dispose]: () => session.destroy() }
  }
  const to = httpsRequest(`${server.url}${path}`, {
    method: 'POST',
    headers: token,
    rejectUnauthorized: false,
    agent: false,
  })
  to.on('error', () => undefined)
  const text = once(to, 'response').then(([message]) => readAll(message))
  text.catch(() => undefined)
  return { to, text, [Symbol.dispose]: () => void to.destroy() }
}

async function readAll(stream: Readable): Promise<string> {
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += String(chunk)
  return text
}

for (const kind of ['HTTP/1.1', 'HTTP/2'] as const) {
  test(`${kind}: a request body of any length is forwarded`, async () => {
    using upload = begin(kind, '/api/v1/nodes/n/proxy/count')
    await pour(upload.to, bigBytes, { bytes: 0 })
    assert.equal(await upload.text, `${bigBytes}`)
  })

  test(`${kind}: a request body is forwarded no faster than the kubelet reads it`, async () => {
    using upload = begin(kind, '/api/v1/nodes/n/proxy/deaf')
    const taken = { bytes: 0 }
    void pour(upload.to, 8 * bigBytes, taken).catch(() => undefined)
    // Wait until all buffers between the client and the kubelet are full. There are two sockets
    // between them. Linux enlarges the buffers of a socket up to 36 MB.
    let last = -1
    for (; last !== taken.bytes || last === 0; await sleep(500)) last = taken.bytes
    assert.ok(
      taken.bytes > 0 && taken.bytes < 4 * bigBytes,
      `${taken.bytes} bytes were accepted for a kubelet that reads nothing`,
    )
  })
}

/**
 * A request body that looks like a second request. If the length of a GET body is not announced,
 * Node's client sends the body without framing.
 */
const second = Buffer.from('POST /second HTTP/1.1\r\nhost: kubelet\r\ncontent-length: 0\r\n\r\n')

for (const [kind, framing] of [
  ['HTTP/1.1', { 'transfer-encoding': 'chunked' }],
  ['HTTP/2', {}],
] as const) {
  test(`${kind}: a request body of unknown length reaches the kubelet completely, regardless of the method and the headers`, async () => {
    await using own = clients[kind]?.(server.url) ?? assert.fail('there is a client')
    for (const method of ['GET', 'DELETE', 'POST']) {
      for (const more of [{}, { expect: '100-continue' }]) {
        const headers = { ...framing, ...more }
        const call = {
          method,
          path: '/api/v1/nodes/n/proxy/count',
          body: second,
          hidesLength: true,
          headers,
        }
        assert.equal(
          (await own.call(call)).text,
          `${second.length}`,
          `${method} ${JSON.stringify(more)}`,
        )
      }
    }
    assert.ok(!kubelet.asked.includes('POST /second'))
  })
}

test('a proxied response can begin after the timeout of other requests', async () => {
  const { status, text } = await client.call({ path: '/api/v1/nodes/n/proxy/late' })
  assert.deepEqual([status, text], [200, 'late'])
})

test('a redirect by the kubelet is rewritten to a path below the path of the proxy', async () => {
  const { status, headers } = await client.call({ path: '/api/v1/nodes/n/proxy/moved' })
  assert.deepEqual([status, headers['location']], [302, '/api/v1/nodes/n/proxy/there?a=b'])
  const { headers: others } = await client.call({ path: '/api/v1/nodes/n/proxy/x' })
  assert.equal(others['access-control-allow-origin'], undefined)
})

for (const protocol of ['websocket', 'SPDY/3.1']) {
  test(`exec over ${protocol} is connected to the kubelet`, async () => {
    const { status, socket } = await open(
      `${pod}/exec?command=ls&command=-l&stdout=true&tty=1`,
      protocol,
    )
    assert.equal(status, 101)
    assert.ok(
      socket !== undefined &&
        kubelet.asked.includes('GET /exec/k/p/c?output=1&tty=1&command=ls&command=-l'),
    )
    socket.write('who is there')
    const [heard] = await once(socket, 'data')
    assert.equal(String(heard), 'who is there')
    socket.end()
    await once(socket, 'close')
  })
}

test('if the kubelet does not upgrade a connection, the client gets the ordinary response of the kubelet', async () => {
  assert.equal((await open(`${pod}x/exec?command=ls`, 'websocket')).status, 404)
  assert.equal((await open('/api/v1/namespaces/k/configmaps', 'websocket')).status, 200)
})

test('the server closes forwarded connections when it stops', async () => {
  const { socket } = await open(`${pod}/portforward?ports=80`, 'SPDY/3.1')
  assert.ok(socket !== undefined)
  const closed = once(socket, 'close')
  socket.on('error', () => undefined)
  await server[Symbol.asyncDispose]()
  await closed
})
