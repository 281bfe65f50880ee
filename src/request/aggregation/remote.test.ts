import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { createSecureServer } from 'node:http2'
import type { Server, Socket } from 'node:net'
import { test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import type { KubeObject } from '../../api/object.ts'
import { type Dial, dialDirect } from '../../lib/net/dial.ts'
import { createSelfSigned } from '../../lib/x509/certificates.ts'
import { until } from '../../../test/support/harness/until.ts'
import { RemoteConnections } from './connections.ts'
import { Remote, UnresolvedService } from './remote.ts'

const { certificatePem: cert, keyPem: key } = createSelfSigned('remote', ['api.ns.svc'], Date.now())

/** A Service whose cluster IP is the local host. */
const service = (port: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {},
  spec: { type: 'ClusterIP', clusterIP: '127.0.0.1', ports: [{ port }] },
})

type ReceivedRequest = {
  readonly method: string
  readonly path: string
  readonly headers: NodeJS.Dict<string | string[]>
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}

const remoteAt = (port: number, caPem: string): Remote =>
  new Remote(
    { service: { namespace: 'ns', name: 'api', port }, caPem, isInsecure: false },
    {
      getService: (namespace, name) =>
        `${namespace}/${name}` === 'ns/api' ? service(port) : undefined,
      ownAddress: () => undefined,
      clientCertificate: () => undefined,
      dial: dialDirect,
    },
  )

type RemoteFixture = { readonly remote: Remote; readonly seen: ReceivedRequest[] } & Disposable

async function start(
  kind: 'http1' | 'http2',
  { answer = 'answer', caPem = cert } = {},
): Promise<RemoteFixture> {
  const seen: ReceivedRequest[] = []
  const server = kind === 'http1' ? createServer({ cert, key }) : createSecureServer({ cert, key })
  server.on('request', (request, response) => {
    seen.push({ method: request.method, path: request.url, headers: request.headers })
    response.writeHead(200, { 'content-type': 'text/plain', etag: '"one"' })
    response.end(answer)
  })
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket))
  const remote = remoteAt(await listen(server), caPem)
  return {
    remote,
    seen,
    [Symbol.dispose]() {
      remote.close()
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

const options = { accept: 'text/plain', timeoutMs: 60_000, bytesMax: 1000 }

for (const kind of ['http1', 'http2'] as const) {
  test(`a document is fetched over ${kind} from the cluster IP, and TLS expects the name of the Service`, async () => {
    using started = await start(kind)
    const user = {
      name: 'jürgen',
      uid: 'u',
      groups: ['a,b', 'c'],
      extra: { 'example.com/x y': ['1', '2'] },
    }
    const document = await started.remote.fetchDocument('/apis/g/v1?a=b', {
      ...options,
      etag: '"zero"',
      user,
    })
    assert.deepEqual([document.status, document.type, document.etag], [200, 'text/plain', '"one"'])
    assert.equal(document.body.toString(), 'answer')
    const [request] = started.seen
    assert.equal(request?.path, '/apis/g/v1?a=b')
    assert.equal(request?.headers['if-none-match'], '"zero"')
    assert.equal(
      Buffer.from(String(request?.headers['x-remote-user']), 'latin1').toString(),
      'jürgen',
    )
    assert.deepEqual(String(request?.headers['x-remote-group']), 'a,b, c')
    assert.equal(request?.headers['x-remote-extra-example.com%2fx%20y'], '1, 2')
    const again = await started.remote.fetchDocument('/again', options)
    assert.equal(again.body.toString(), 'answer')
    assert.equal(started.seen[1]?.headers['x-remote-user'], 'system:kube-aggregator')
  })

  test(`a document that is too large is rejected over ${kind}`, async () => {
    using started = await start(kind, { answer: 'x'.repeat(2000) })
    await assert.rejects(started.remote.fetchDocument('/large', options), {
      name: 'TooLargeDocument',
    })
  })

  test(`a certificate for another server name is rejected over ${kind}`, async () => {
    const other = createSelfSigned('other', ['api.ns.svc'], Date.now())
    using started = await start(kind, { caPem: other.certificatePem })
    await assert.rejects(started.remote.fetchDocument('/', options), {
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    })
  })
}

test('a remote server whose Service does not exist cannot be resolved', async () => {
  const remote = new Remote(
    { service: { namespace: 'ns', name: 'api', port: 443 }, caPem: '', isInsecure: true },
    {
      getService: () => undefined,
      ownAddress: () => undefined,
      clientCertificate: () => undefined,
      dial: dialDirect,
    },
  )
  await assert.rejects(remote.fetchDocument('/', options), UnresolvedService)
})

test('response headers whose names are properties of Object.prototype are preserved', async () => {
  const server = createSecureServer({ cert, key })
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket))
  server.on('stream', (stream) => {
    const odd = { constructor: 'a', ['__proto__']: 'b', valueof: 'c' }
    stream.respond({ ':status': 200, ...odd }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(odd))
    stream.end('body')
  })
  const port = await listen(server)
  const remote = remoteAt(port, cert)
  const { status, body, headers } = await remote.fetchDocument('/', options)
  assert.deepEqual(
    [status, body.toString(), headers['constructor'], headers['valueof']],
    [200, 'body', 'a', 'c'],
  )
  remote.close()
  server.close()
  for (const socket of sockets) socket.destroy()
})

test('a request fails if the remote server switches protocols although the request is not an upgrade', async () => {
  const server = createTlsServer({ cert, key }, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    )
  })
  const port = await listen(server)
  const remote = remoteAt(port, cert)
  await assert.rejects(remote.fetchDocument('/', options), /101 Switching Protocols/)
  remote.close()
  server.close()
})

test('a request fails if the server closes the connection without a response', async () => {
  const server = createTlsServer({ cert, key }, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.destroy())
  })
  const port = await listen(server)
  const remote = remoteAt(port, cert)
  await assert.rejects(remote.fetchDocument('/', options), /EOF|hang up/)
  remote.close()
  server.close()
})

test('if an HTTP/2 connection is lost, reads are sent again, but writes are not', async () => {
  const asked: string[] = []
  const server = createSecureServer({ cert, key })
  server.on('sessionError', () => undefined)
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    const request = `${headers[':method']} ${headers[':path']}`
    asked.push(request)
    const isFirst = asked.filter((one) => one === request).length === 1
    if (headers[':path'] === '/lost' && isFirst) return stream.session?.destroy()
    stream.respond({ ':status': 200 })
    stream.end('here')
  })
  const remote = remoteAt(await listen(server), cert)
  const { signal } = new AbortController()
  const send = async (method: string, path: string): Promise<number> =>
    (await remote.send({ method, path, headers: {}, pipeBody: undefined, signal })).status
  assert.equal(await send('GET', '/'), 200)
  assert.equal(await send('GET', '/lost'), 200)
  await assert.rejects(send('DELETE', '/lost'), /EOF/)
  assert.deepEqual(asked, ['GET /', 'GET /lost', 'GET /lost', 'DELETE /lost'])
  remote.close()
  server.close()
})

/**
 * A Dial function that only calls `dialDirect`. Any Dial function other than `dialDirect` itself
 * counts as one that might connect through a proxy.
 */
const throughProxy: Dial = (host, port, signal) => dialDirect(host, port, signal)

test('closing the connection pool also closes the connection of an aborted request, even after a request to another address', async () => {
  const sockets: Socket[] = []
  const ports = await Promise.all(
    [1, 2].map(() => {
      const server = createServer({ cert, key }, (_request, response) =>
        response.end('answer'),
      ).unref()
      server.on('connection', (socket: Socket) => sockets.push(socket))
      return listen(server)
    }),
  )
  const [given, other] = ports.map((port) => ({ host: '127.0.0.1', port }))
  assert.ok(given !== undefined && other !== undefined)
  const connections = new RemoteConnections(
    { servername: undefined, caPem: '', isInsecure: true, client: undefined },
    throughProxy,
  )
  const asked = { method: 'GET', path: '/', headers: {}, pipeBody: undefined }
  const giving = new AbortController()
  const first = connections.send(given, { ...asked, signal: giving.signal })
  giving.abort()
  await assert.rejects(first, /aborted/)
  await until(() => sockets.length === 1, 'a connection is open')
  // Wait until the TLS handshake is complete.
  await new Promise((resolve) => setTimeout(resolve, 100))
  const { body } = await connections.send(other, { ...asked, signal: new AbortController().signal })
  body.close()
  connections.close()
  await until(() => sockets.every((socket) => socket.destroyed), 'all are closed')
})

test('a connection that is still being established when its connection pool is closed is also closed', async () => {
  const sockets: Socket[] = []
  const server = createServer({ cert, key }).unref()
  server.on('connection', (socket: Socket) => sockets.push(socket))
  const port = await listen(server)
  const connections = new RemoteConnections(
    { servername: undefined, caPem: '', isInsecure: true, client: undefined },
    throughProxy,
  )
  const giving = new AbortController()
  const asked = {
    method: 'GET',
    path: '/',
    headers: {},
    pipeBody: undefined,
    signal: giving.signal,
  }
  const given = connections.send({ host: '127.0.0.1', port }, asked)
  giving.abort()
  await assert.rejects(given, /aborted/)
  connections.close()
  await until(() => sockets.length === 1, 'a connection is open')
  await until(() => sockets.every((socket) => socket.destroyed), 'the connection is closed')
})
