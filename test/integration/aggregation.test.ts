/**
 * Tests requests to an aggregated API server: bodies of any size, streams, upgrades, and
 * connections that one side closes.
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import {
  connect as connectHttp2,
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2'
import { createServer, request as httpsRequest, type Server } from 'node:https'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { Authority } from '../support/harness/issued-certificate.ts'
import { until, WATCHED_MS } from '../support/harness/until.ts'
import {
  adminToken,
  type Call,
  type Client,
  clients,
  startReplica,
  startTestServer,
  type TestServer,
} from './support.ts'

const MB = 1 << 20
const proxies = new Authority('proxies')
const remotes = new Authority('remotes')
const ca = Buffer.from(remotes.certificatePem).toString('base64')

/** A request handler. It uses the HTTP/2 types of Node, but also handles requests over HTTP/1.1. */
type Answer = (request: Http2ServerRequest, response: Http2ServerResponse) => void

/**
 * A remote server over HTTP/2 or HTTP/1.1. Tests set its handlers, by the last segment of the path.
 */
class RemoteServer implements Disposable {
  readonly answers = new Map<string, Answer>()
  readonly upgrades = new Map<string, (socket: Duplex, request: IncomingMessage) => void>()
  readonly sockets = new Set<Socket>()
  readonly certificates = new Set<string>()
  readonly #server: Http2SecureServer | Server

  constructor(takesHttp2: boolean) {
    const own = remotes.issue({
      cn: 'remote',
      usage: ['server'],
      hosts: ['remote.default.svc', 'localhost'],
    })
    const tls = {
      cert: own.certificatePem,
      key: own.keyPem,
      requestCert: true,
      rejectUnauthorized: false,
    }
    this.#server = takesHttp2 ? createSecureServer(tls) : createServer(tls)
    this.#server.on('secureConnection', (socket) => {
      this.sockets.add(socket)
      this.certificates.add(String(socket.getPeerCertificate()?.subject?.CN))
      socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket))
    })
    this.#server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
      request.on('error', () => undefined)
      response.on('error', () => undefined)
      const [path = ''] = request.url.split('?')
      const answer = this.answers.get(path.split('/').at(-1) ?? '')
      if (answer !== undefined) return answer(request, response)
      response.writeHead(path.split('/').length === 4 ? 200 : 404, {
        'content-type': 'application/json',
      })
      response.end('{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"","resources":[]}')
    })
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
      socket.on('error', () => undefined)
      this.upgrades.get(request.url?.split('/').at(-1) ?? '')?.(socket, request)
    })
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    assert.ok(typeof address === 'object' && address !== null)
    return address.port
  }

  [Symbol.dispose](): void {
    this.#server.close()
    for (const socket of this.sockets) socket.destroy()
  }
}

let dir = ''
let server: TestServer
let client: Client
/** The remote servers, by the API group that they serve. */
const servers = {
  'two.example.com': new RemoteServer(true),
  'one.example.com': new RemoteServer(false),
}
type Group = keyof typeof servers
const groups = ['two.example.com', 'one.example.com'] as const

const create = (path: string, body: unknown): Promise<unknown> =>
  client.call({ method: 'POST', path, body })

async function register(of: string, spec: object): Promise<void> {
  const path = '/apis/apiregistration.k8s.io/v1/apiservices'
  const metadata = { name: `v1.${of}` }
  const more = {
    group: of,
    version: 'v1',
    groupPriorityMinimum: 1000,
    versionPriority: 15,
    ...spec,
  }
  await create(path, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata,
    spec: more,
  })
}

const isServed = async (of: string): Promise<boolean> =>
  (await client.call({ path: `/apis/${of}/v1` })).status === 200

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-aggregation-'))
  await writeFile(join(dir, 'ca.pem'), proxies.certificatePem)
  await show('front')
  server = await startTestServer([
    `--requestheader-client-ca-file=${join(dir, 'ca.pem')}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${join(dir, 'cert.pem')}`,
    `--proxy-client-key-file=${join(dir, 'key.pem')}`,
  ])
  const open = clients['HTTP/2']
  assert.ok(open)
  client = open(server.url)
  const spec = { type: 'ExternalName', externalName: 'localhost' }
  await create('/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'remote' },
    spec,
  })
  for (const of of groups) {
    const port = await servers[of].listen()
    await register(of, { caBundle: ca, service: { namespace: 'default', name: 'remote', port } })
  }
  for (const of of groups) await until(() => isServed(of), `${of} is served`)
})
after(async () => {
  for (const of of groups) servers[of][Symbol.dispose]()
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

async function show(cn: string): Promise<void> {
  const { certificatePem, keyPem } = proxies.issue({ cn })
  await writeFile(join(dir, 'cert.pem'), certificatePem)
  await writeFile(join(dir, 'key.pem'), keyPem)
}

const pathOf = (of: Group, name: string): string =>
  `/apis/${of}/v1/namespaces/default/things/${name}`
const digest = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

for (const of of groups) {
  for (const [version, open] of Object.entries(clients)) {
    test(`${version} to ${of}: a body of 4 MB is forwarded to and from the remote server, with or without content-length`, async () => {
      await using own = open(server.url)
      servers[of].answers.set('echo', (request, response) => {
        response.writeHead(200, { 'content-type': 'application/octet-stream' })
        request.pipe(response)
      })
      servers[of].answers.set('sized', (request, response) => {
        void text(request).then((sent) => {
          response.writeHead(200, { 'content-type': 'text/plain', 'content-length': sent.length })
          return response.end(sent)
        })
      })
      const body = 'x'.repeat(4 * MB)
      for (const name of ['echo', 'sized']) {
        for (const hidesLength of [true, false]) {
          const sent: Call = { method: 'POST', path: pathOf(of, name), body, hidesLength }
          const { status, text: came } = await own.call(sent)
          assert.deepEqual(
            [status, came.length],
            [200, JSON.stringify(body).length],
            `${name} ${hidesLength}`,
          )
          assert.equal(digest(came), digest(JSON.stringify(body)))
        }
      }
    })
  }

  test(`${of}: read requests can have bodies, over HTTP/2 even without a content-length`, async () => {
    servers[of].answers.set('asked', (request, response) => {
      void text(request).then((sent) => response.end(`${request.method} ${sent}`))
    })
    for (const method of ['GET', 'OPTIONS', 'DELETE']) {
      for (const more of [{}, { body: 'x' }, { body: 'x', hidesLength: true }]) {
        const { status, text: came } = await client.call({
          method,
          path: pathOf(of, 'asked'),
          ...more,
        })
        assert.deepEqual([status, came], [200, 'body' in more ? `${method} "x"` : `${method} `])
      }
    }
  })

  test(`${of}: a watch event reaches the client before the remote server sends the next one`, async () => {
    let send: ((line: string) => void) | undefined
    servers[of].answers.set('watched', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      send = (line) => response.write(`${line}\n`)
      send('first')
    })
    const lines = client.lines({ path: `${pathOf(of, 'watched')}?watch=1` })
    assert.equal((await lines.next()).value, 'first')
    send?.('second')
    assert.equal((await lines.next()).value, 'second')
    await lines.return()
  })

  test(`${of}: a client that disconnects ends the remote request, before and during its response`, async () => {
    let [begun, closed] = [0, 0]
    const listen: Answer = (request, response) => {
      begun++
      response.on('close', () => closed++)
      request.resume()
    }
    servers[of].answers.set('silent', listen)
    servers[of].answers.set('begun', (request, response) => {
      listen(request, response)
      response.writeHead(200)
      response.write('some')
    })
    const session = connectHttp2(server.url, { rejectUnauthorized: false })
    for (const name of ['silent', 'begun']) {
      const stream = session.request({
        ':path': pathOf(of, name),
        authorization: `Bearer ${adminToken}`,
      })
      stream.on('error', () => undefined)
      if (name === 'begun') await once(stream, 'data')
    }
    await until(() => begun === 2, 'both requests have arrived')
    session.destroy()
    await until(() => closed === 2, 'both responses are closed')
  })

  test(`${of}: a client that stops reading pauses the remote server, and later receives the remaining bytes`, async () => {
    const chunk = Buffer.alloc(64 * 1024, 'y')
    const total = 32 * MB
    let written = 0
    let isBlocked = false
    servers[of].answers.set('much', (_request, response) => {
      response.writeHead(200)
      const go = (): void => {
        isBlocked = false
        while (written < total) {
          written += chunk.length
          if (!response.write(chunk)) {
            isBlocked = true
            return void response.once('drain', go)
          }
        }
        response.end()
      }
      go()
    })
    const session = connectHttp2(server.url, { rejectUnauthorized: false })
    const stream = session.request({
      ':path': pathOf(of, 'much'),
      authorization: `Bearer ${adminToken}`,
    })
    await once(stream, 'response')
    let seen = -1
    // Wait until the remote server cannot write any more, because the client does not read the
    // response.
    await until(async () => {
      const earlier = written
      await new Promise((resolve) => setTimeout(resolve, 200))
      seen = written
      return isBlocked && earlier === seen
    }, 'the remote server waits')
    assert.ok(seen < total / 2, `${seen} bytes were buffered for a client that does not read`)
    let bytes = 0
    for await (const part of stream) bytes += Buffer.from(part).length
    assert.equal(bytes, total)
    session.destroy()
  })

  test(`${of}: if the remote server aborts a response, the client's response is also aborted`, async () => {
    for (const [name, headers] of [
      ['cut', {}],
      ['cut-sized', { 'content-length': 1000 }],
    ] as const) {
      servers[of].answers.set(name, (_request, response) => {
        response.writeHead(200, headers)
        response.write('some')
        setTimeout(
          () =>
            'stream' in response && response.stream !== undefined
              ? response.stream.session?.destroy()
              : response.destroy(),
          50,
        )
      })
      await assert.rejects(
        client.call({ path: pathOf(of, name) }),
        /aborted|ERR_HTTP2|CANCEL|INTERNAL/i,
      )
      const own = clients['HTTP/1.1']?.(server.url)
      assert.ok(own)
      await assert.rejects(own.call({ path: pathOf(of, name) }), /aborted|reset|hang up/i)
    }
    await until(() => isServed(of), 'the group is served again')
  })
}

test('an upgrade request is forwarded, and if the remote server rejects the upgrade, the client gets the response', async () => {
  servers['one.example.com'].upgrades.set('spoken', (socket, { headers }) => {
    const who = `${String(headers['x-remote-user'])} ${String(headers['authorization'])} ${String(headers['upgrade'])}`
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nx-own: yes\r\n\r\n${who}\n`,
    )
    socket.pipe(socket)
  })
  servers['one.example.com'].upgrades.set('refused', (socket) =>
    socket.end(
      'HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nno',
    ),
  )
  servers['one.example.com'].upgrades.set('ignored', (socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
  )
  servers['one.example.com'].upgrades.set('moved', (socket) =>
    socket.end('HTTP/1.1 302 Found\r\nlocation: https://example.com\r\ncontent-length: 0\r\n\r\n'),
  )
  const spoken = await upgrade(pathOf('one.example.com', 'spoken'))
  assert.equal(spoken.status, 101)
  assert.equal(spoken.headers['x-own'], 'yes')
  assert.ok(spoken.socket)
  let echoed = ''
  spoken.socket.on('data', (chunk: Buffer) => (echoed += String(chunk)))
  spoken.socket.write('hello')
  await until(() => echoed === 'admin undefined websocket\nhello', 'bytes pass in both directions')
  spoken.socket.destroy()
  assert.deepEqual(shownBy(await upgrade(pathOf('one.example.com', 'refused'))), [403, 'no'])
  assert.deepEqual(shownBy(await upgrade(pathOf('one.example.com', 'ignored'))), [
    503,
    'invalid upgrade response: status code 200\n',
  ])
  assert.equal(
    (await upgrade(pathOf('one.example.com', 'spoken'), 'other')).status,
    404,
    'the protocol is not supported',
  )
  assert.deepEqual(shownBy(await upgrade(pathOf('one.example.com', 'moved'))), [
    503,
    'invalid upgrade response: status code 302\n',
  ])
})

test('closing either end of an upgraded connection closes the other', async () => {
  let far: Duplex | undefined
  servers['one.example.com'].upgrades.set('open', (socket) => {
    far = socket
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n',
    )
  })
  const first = await upgrade(pathOf('one.example.com', 'open'))
  const isFirstFarClosed = far && once(far, 'close')
  first.socket?.destroy()
  await isFirstFarClosed
  const second = await upgrade(pathOf('one.example.com', 'open'))
  assert.ok(second.socket)
  const isClosed = once(second.socket, 'close')
  second.socket.resume()
  far?.destroy()
  await isClosed
})

test('an upgrade request that times out also closes the connection to the remote server', async () => {
  let far: Duplex | undefined
  servers['one.example.com'].upgrades.set('hangs?timeout=1s', (socket) => {
    far = socket.resume()
  })
  const { status } = await upgrade(`${pathOf('one.example.com', 'hangs')}?timeout=1s`)
  assert.equal(status, 504)
  assert.ok(far)
  await until(
    () => far?.destroyed === true || far?.readableEnded === true,
    'the remote connection is closed',
  )
})

for (const of of groups) {
  test(`${of}: responses without a body keep their content-length, and can announce trailers`, async () => {
    servers[of].answers.set('bodiless', (request, response) => {
      const isSame = request.headers['if-none-match'] !== undefined
      response.writeHead(isSame ? 304 : 200, {
        'content-length': 50,
        date: 'Mon, 01 Jan 2001 00:00:00 GMT',
      })
      response.end(isSame || request.method === 'HEAD' ? '' : 'x'.repeat(50))
    })
    servers[of].answers.set('trailing', (request, response) => {
      // A response to HEAD has no body. In this case, Node's HTTP/1.1 server cannot announce
      // trailers.
      const isHead = request.method === 'HEAD'
      response.writeHead(200, isHead && of === 'one.example.com' ? {} : { trailer: 'x-sum' })
      if (!isHead) response.write('text')
      if (!isHead) response.addTrailers({ 'x-sum': '42' })
      response.end()
    })
    for (const open of Object.values(clients)) {
      await using own = open(server.url)
      const path = pathOf(of, 'bodiless')
      for (const more of [{ method: 'HEAD' }, { headers: { 'if-none-match': '"x"' } }]) {
        const { headers } = await own.call({ path, ...more })
        assert.deepEqual(
          [headers['content-length'], headers['date']],
          ['50', 'Mon, 01 Jan 2001 00:00:00 GMT'],
        )
      }
      assert.equal((await own.call({ method: 'HEAD', path: pathOf(of, 'trailing') })).status, 200)
      assert.equal((await own.call({ path: pathOf(of, 'trailing') })).text, 'text')
    }
    const { hostname, port } = new URL(server.url)
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false })
    socket.write(
      `GET ${pathOf(of, 'trailing')} HTTP/1.0\r\nauthorization: Bearer ${adminToken}\r\n\r\n`,
    )
    assert.match(await text(socket), /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\ntext$/)
  })
}

test('an HTTP/2 body that contradicts its content-length cannot inject a second response', async () => {
  const { answers } = servers['two.example.com']
  for (const [name, length] of [
    ['over', 5],
    ['under', 50],
  ] as const) {
    answers.set(name, (_request, response) => {
      // Write to the stream directly, because Node's response object rejects a wrong
      // content-length.
      response.stream.respond({ ':status': 200, 'content-length': `${length}` })
      response.stream.end('HTTP/1.1 200 OK\r\nx: y\r\n\r\n')
    })
    const own = clients['HTTP/1.1']?.(server.url)
    assert.ok(own)
    await assert.rejects(
      own.call({ path: pathOf('two.example.com', name) }),
      /aborted|reset|hang up/i,
      name,
    )
  }
})

for (const of of groups) {
  test(`${of}: concurrent responses arrive complete, even if other clients cancel theirs`, async () => {
    const bytes = randomBytes(MB)
    // Sends `bytes` in chunks of `size` bytes. Closes the connection after `cut` bytes, if set.
    servers[of].answers.set('pieces', (request, response) => {
      const query = new URL(request.url, 'https://x').searchParams
      const [size, cut, isSized] = [
        Number(query.get('size')),
        Number(query.get('cut')),
        query.get('sized') === 'true',
      ]
      response.writeHead(200, isSized ? { 'content-length': bytes.length } : {})
      const go = (at: number): void => {
        if (response.destroyed) return
        if (cut > 0 && at >= cut)
          return void ('stream' in response ? response.stream : response).destroy()
        if (at >= bytes.length) return void response.end()
        const next = Math.min(bytes.length, at + size)
        if (response.write(bytes.subarray(at, next))) setImmediate(go, next)
        else response.once('drain', () => go(next))
      }
      go(0)
    })
    const session = connectHttp2(server.url, { rejectUnauthorized: false })
    session.on('error', () => undefined)
    /** Returns the number of received bytes, and whether the response ended normally. */
    const read = (
      query: string,
      { leaves = Infinity, isSlow = false } = {},
    ): Promise<[number, boolean]> =>
      new Promise((resolve, reject) => {
        const headers = {
          ':path': `${pathOf(of, 'pieces')}?${query}`,
          authorization: `Bearer ${adminToken}`,
        }
        const stream = session.request(headers)
        let came = 0
        stream.on('error', () => undefined)
        stream.on('data', (chunk: Buffer) => {
          if (!chunk.equals(bytes.subarray(came, came + chunk.length)))
            reject(new Error(`${query}: wrong bytes after ${came}`))
          came += chunk.length
          if (came >= leaves) stream.close()
          if (!isSlow) return
          stream.pause()
          setImmediate(() => stream.resume())
        })
        stream.on('close', () => resolve([came, stream.readableEnded && stream.rstCode === 0]))
      })
    const sizes = [3_001, 16_384, 700_000]
    const whole = sizes.flatMap((size) =>
      [true, false].flatMap((sized) => [
        read(`size=${size}&sized=${sized}`),
        read(`size=${size}&sized=${sized}&watch=true`, { isSlow: true }),
      ]),
    )
    const left = sizes.map((size) => read(`size=${size}&sized=true`, { leaves: 1 }))
    // Close connections only over HTTP/1.1, where each request has its own connection. Over HTTP/2,
    // this would abort other requests.
    const cut =
      of === 'one.example.com'
        ? sizes.map((size) => read(`size=${size}&sized=true&cut=300000`))
        : []
    for (const answer of await Promise.all(whole)) assert.deepEqual(answer, [bytes.length, true])
    await Promise.all(left)
    for (const [came, isEnd] of await Promise.all(cut))
      assert.ok(came < bytes.length && !isEnd, `${came} bytes`)
    session.destroy()
  })
}

test('a request with a lowercase method is not forwarded', async () => {
  let calls = 0
  servers['one.example.com'].answers.set('small', (_request, response) => {
    calls++
    response.end()
  })
  const { status } = await client.call({
    method: 'delete',
    path: pathOf('one.example.com', 'small'),
  })
  assert.deepEqual([status, calls], [405, 0])
})

test('an APIService cannot redirect requests for APIServices, and a Service cannot route requests back to the server itself', async () => {
  const path = '/apis/apiregistration.k8s.io/v1/apiservices'
  const port = Number(new URL(server.url).port)
  const leading = {
    spec: { caBundle: ca, service: { namespace: 'default', name: 'remote', port } },
  }
  const headers = { 'content-type': 'application/merge-patch+json' }
  const own = `${path}/v1.apiregistration.k8s.io`
  await register('apiregistration.k8s.io', leading.spec)
  await client.call({ method: 'PATCH', path: own, body: leading, headers })
  await register('loop.example.com', leading.spec)
  const loop = `${path}/v1.loop.example.com`
  await until(
    async () => (await client.call({ path: loop })).text.includes('is this server itself'),
    'the loop is reported',
  )
  assert.equal((await client.call({ method: 'DELETE', path: loop })).status, 200)
  assert.equal((await client.call({ method: 'DELETE', path: own })).status, 200)
})

type UpgradeResult = {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly socket?: Duplex
  readonly text?: string
}

function upgrade(path: string, protocol = 'websocket'): Promise<UpgradeResult> {
  const { hostname, port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${adminToken}`,
      connection: 'Upgrade',
      upgrade: protocol,
    }
    const sent = httpsRequest({
      hostname,
      port,
      path,
      rejectUnauthorized: false,
      agent: false,
      headers,
    })
    sent.on('upgrade', ({ statusCode: status = 0, headers: given }, socket, first) => {
      if (first.length > 0) socket.unshift(first)
      socket.on('error', () => undefined)
      resolve({ status, headers: given, socket })
    })
    sent.on('response', (message) => {
      const { statusCode: status = 0, headers: given } = message
      resolve(text(message).then((shown) => ({ status, headers: given, text: shown })))
    })
    sent.on('error', reject)
    sent.end()
  })
}

const shownBy = ({ status, text: shown }: UpgradeResult): unknown[] => [status, shown]

test('connections to a remote server are reused, and new connections use a renewed client certificate', async () => {
  const { sockets, certificates } = servers['two.example.com']
  for (let calls = 0; calls < 20; calls++)
    await client.call({ path: pathOf('two.example.com', 'none') })
  assert.ok(sockets.size < 10, `${sockets.size} connections`)
  assert.deepEqual([...certificates], ['front'])
  await show('renewed')
  await until(
    async () => {
      await client.call({ path: pathOf('two.example.com', 'none') })
      return certificates.has('renewed')
    },
    'the new certificate is presented',
    WATCHED_MS,
  )
})

test('an APIService becomes unavailable when its server stops listening', async () => {
  using other = new RemoteServer(false)
  const port = await other.listen()
  await register('three.example.com', {
    caBundle: ca,
    service: { namespace: 'default', name: 'remote', port },
  })
  await until(() => isServed('three.example.com'), 'the group is served')
  other[Symbol.dispose]()
  const { status, text: why } = await client.call({ path: '/apis/three.example.com/v1/things' })
  assert.deepEqual(
    [status, why],
    [
      503,
      `error trying to reach service: dial tcp 127.0.0.1:${port}: connect: connection refused\n`,
    ],
  )
  const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1.three.example.com'
  // Change the APIService, because the server checks its availability whenever it is written.
  const patch = { metadata: { annotations: { looked: 'at' } } }
  const headers = { 'content-type': 'application/merge-patch+json' }
  await client.call({ method: 'PATCH', path, body: patch, headers })
  await until(
    async () => (await client.call({ path })).text.includes('"FailedDiscoveryCheck"'),
    'the outage is detected',
  )
  await until(
    async () =>
      (await client.call({ path: '/apis/three.example.com/v1/things' })).text ===
      'service unavailable\n',
    'requests are no longer forwarded',
  )
  const metrics = (await client.call({ path: '/metrics' })).text
  assert.match(metrics, /^aggregator_unavailable_apiservice\{name="v1.three.example.com"\} 1$/m)
  assert.match(
    metrics,
    /^aggregator_unavailable_apiservice_total\{name="v1.three.example.com",reason="FailedDiscoveryCheck"\} 1$/m,
  )
  await client.call({ method: 'DELETE', path })
})

test('the Available condition of an APIService that another client has written is not overwritten immediately', async () => {
  const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1.two.example.com'
  const conditionOf = async (): Promise<string> => {
    const { status } = JSON.parse((await client.call({ path })).text)
    return status.conditions[0].reason
  }
  await until(async () => (await conditionOf()) === 'Passed', 'the APIService is available')
  const body = {
    status: {
      conditions: [{ type: 'Available', status: 'False', reason: 'Elsewhere', message: 'no' }],
    },
  }
  const headers = { 'content-type': 'application/merge-patch+json' }
  const sinceMs = performance.now()
  const { status } = await client.call({ method: 'PATCH', path: `${path}/status`, body, headers })
  assert.equal(status, 200)
  await until(async () => (await conditionOf()) === 'Passed', 'the condition is written again')
  // The server waits for one second before it overwrites the condition.
  assert.ok(performance.now() - sinceMs > 990, `after ${performance.now() - sinceMs} ms`)
  await until(() => isServed('two.example.com'), 'the group is served again')
})

test('when the server stops, it ends the log streams that it forwards from remote servers', async () => {
  let isClosed = false
  servers['two.example.com'].answers.set('log', (_request, response) => {
    response.writeHead(200)
    response.write('a line\n')
    response.on('close', () => (isClosed = true))
  })
  const replica = await startReplica(server)
  const session = connectHttp2(replica.url, { rejectUnauthorized: false })
  session.on('error', () => undefined)
  const asked = {
    ':path': `${pathOf('two.example.com', 'x')}/log?follow=true`,
    authorization: `Bearer ${adminToken}`,
  }
  const stream = session.request(asked)
  stream.on('error', () => undefined)
  await once(stream, 'data')
  const closed = once(stream.resume(), 'close')
  await replica[Symbol.asyncDispose]()
  await closed
  // The stream must end normally. It must not be aborted at the end of the shutdown period.
  assert.deepEqual([stream.readableEnded, stream.aborted, stream.rstCode], [true, false, 0])
  await until(() => isClosed, 'the log is closed')
  session.destroy()
})
