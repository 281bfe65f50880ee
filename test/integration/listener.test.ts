/**
 * Tests the listener over real sockets, with simple handlers: limits, floods, certificates and
 * shutdown.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { ApiError } from '../../src/api/errors.ts'
import { type ApiResponse, type Handler, utf8Header } from '../../src/api/request.ts'
import type { Limits } from '../../src/net/http/limits.ts'
import { Listener } from '../../src/net/http/listener.ts'
import { FileReloader } from '../../src/net/http/reload.ts'
import { overWebSocket } from '../../src/request/verbs/websocket-watch.ts'
import { createAuthority, createSelfSigned, issue } from '../../src/lib/x509/certificates.ts'
import {
  END_STREAM,
  FRAME,
  frame,
  headersFrame,
  preface,
  RawHttp2,
  requestFields,
  SETTING,
  settings,
  uint32,
} from '../support/harness/raw-http2.ts'
import { PATIENCE_MS, until } from '../support/harness/until.ts'

const certificate = createSelfSigned('listener', ['127.0.0.1'], Date.now())
const authority = createAuthority('test authority', Date.now())
const json = { 'content-type': 'application/json' }
const text = (body: string): ApiResponse => ({
  status: 200,
  headers: json,
  body: Buffer.from(body),
})

async function start(handler: Handler, limits: Partial<Limits> = {}) {
  const complaints: string[] = []
  const listener = new Listener({
    handler,
    tls: { ...certificate, clientCaPem: authority.certificatePem },
    limits,
    log: (level, message) => level === 'error' && complaints.push(message),
  })
  await listener.listen(0, '127.0.0.1')
  const url = `https://127.0.0.1:${listener.port}`
  return {
    listener,
    url,
    [Symbol.asyncDispose]: async () => {
      await listener[Symbol.asyncDispose]()
      assert.deepEqual(complaints, [])
    },
  }
}

const open = (url: string, options = {}): ClientHttp2Session => {
  const session = connect(url, {
    rejectUnauthorized: false,
    maxSendHeaderBlockLength: 1 << 20,
    ...options,
  })
  session.on('error', () => undefined)
  return session
}

async function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: Buffer) {
  const stream = session.request(headers, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  const parts: Buffer[] = []
  stream.on('data', (part: Buffer) => parts.push(part))
  // Start to read the body before the headers arrive. If a stream ends before it is read, Node
  // reports it as aborted.
  const [[head]] = await Promise.all([once(stream, 'response'), once(stream, 'end')])
  return { status: Number(head[':status']), headers: head, body: Buffer.concat(parts) }
}

function askOnce(
  url: string,
  options: object,
  body?: Buffer,
): Promise<{ status: number; headers: object; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      url,
      { rejectUnauthorized: false, agent: false, ...options },
      (response) => {
        let answer = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => (answer += part))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: answer }),
        )
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

const largeParts = Array.from({ length: 10_000 }, (_, at) =>
  Buffer.from(`{"n":${at},"x":"${'x'.repeat(1180)}"},`),
)
const large: ApiResponse = { status: 200, headers: json, body: largeParts }
const largeBytes = largeParts.reduce((bytes, part) => bytes + part.length, 0)

test('no connection is dropped if a thousand clients connect while the server is busy', async () => {
  await using server = await start(async () => text('{}'))
  const { port } = server.listener
  // Try several times. Linux counts the dropped connections of the whole machine, so other programs
  // can also increase the counter.
  let dropped = Infinity
  for (let tries = 0; tries < 3 && dropped > 0; tries++) {
    const before = droppedConnections()
    const sockets = Array.from({ length: 1_000 }, () => connectPlain(port, '127.0.0.1'))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    dropped = droppedConnections() - before
    for (const socket of sockets) socket.destroy()
    await until(() => server.listener.openConnections === 0, 'all connections are closed')
  }
  assert.equal(dropped, 0)
})

/** Returns the number of connections that Linux dropped because no server accepted them in time. */
function droppedConnections(): number {
  const [names, counts] = readFileSync('/proc/net/netstat', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(' '))
  return Number(counts?.[names?.indexOf('ListenOverflows') ?? -1])
}

describe('the listener sends complete responses', () => {
  test('64 lists of 12 MB can be sent concurrently on one connection', async () => {
    await using server = await start(async () => large)
    const session = open(server.url)
    const lengths = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const stream = session.request({ ':path': '/' })
        let bytes = 0
        for await (const part of stream) bytes += part.length
        return bytes
      }),
    )
    assert.ok(lengths.every((bytes) => bytes === largeBytes))
    session.destroy()
  })

  test('responses are compressed as the client requests, over HTTP/1.1 and HTTP/2', async () => {
    await using server = await start(async () => large)
    const session = open(server.url)
    for (const [encoding, isCompressed] of [
      ['gzip', true],
      ['deflate, gzip', true],
      ['gzip;q=1.0', false],
      ['GZIP', false],
      ['*', false],
    ] as const) {
      const answer = await ask(session, { ':path': '/', 'accept-encoding': encoding })
      assert.equal(answer.headers['content-encoding'], isCompressed ? 'gzip' : undefined, encoding)
      assert.equal(answer.headers['vary'], isCompressed ? 'Accept-Encoding' : undefined)
      assert.equal((isCompressed ? gunzipSync(answer.body) : answer.body).length, largeBytes)
    }
    session.destroy()
    const { headers } = await askOnce(server.url, { headers: { 'accept-encoding': 'gzip' } })
    assert.ok('content-encoding' in headers)
  })

  test('the response to a request with connection: close also has connection: close', async () => {
    await using server = await start(async () => text('x'))
    const answerTo = async (request: string): Promise<string> => {
      const socket = connectHttp1(server.listener.port)
      socket.write(`${request}\r\n\r\n`)
      let answer = ''
      for await (const piece of socket) {
        answer += String(piece)
        if (answer.endsWith('x')) break
      }
      return answer
    }
    const head = 'GET / HTTP/1.1\r\nhost: a'
    assert.match(await answerTo(`${head}\r\nconnection: close`), /\r\nconnection: close\r\n/i)
    assert.doesNotMatch(await answerTo(head), /\r\nconnection:/i)
    assert.doesNotMatch(await answerTo('GET / HTTP/1.0'), /\r\nconnection:/i)
  })

  test('long paths, long headers and UTF-8 values are accepted', async () => {
    let seen = 0
    await using server = await start(async (request) => {
      seen++
      assert.equal(request.path.length, 17_001)
      assert.equal(request.query.get('a')?.length, 17_000)
      assert.equal(utf8Header(request.headers['user-agent'] ?? ''), 'käthe ☃')
      assert.equal(request.remoteAddress, '127.0.0.1')
      return text('ok')
    })
    const path = `/${'x'.repeat(17_000)}?a=${'y'.repeat(17_000)}`
    const agent = Buffer.from('käthe ☃').toString('latin1')
    const headers = { 'user-agent': agent, 'x-long': 'z'.repeat(60_000) }
    const session = open(server.url)
    assert.equal((await ask(session, { ':path': path, ...headers })).status, 200)
    session.destroy()
    assert.equal((await askOnce(server.url + path, { headers })).status, 200)
    assert.equal(seen, 2)
  })
})

const negotiated = async (port: number): Promise<string | false | null> => {
  const protocols = ['h2', 'http/1.1']
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ALPNProtocols: protocols,
  })
  await once(socket, 'secureConnect')
  socket.destroy()
  return socket.alpnProtocol
}

describe('clients can choose the HTTP version', () => {
  test('HTTP/2 is offered unless it is turned off', async () => {
    for (const [servesHttp2, expected] of [
      [true, 'h2'],
      [false, 'http/1.1'],
    ] as const) {
      const handler: Handler = async () => text('ok')
      await using listener = new Listener({
        handler,
        tls: { ...certificate, servesHttp2 },
        log: () => undefined,
      })
      await listener.listen(0, '127.0.0.1')
      assert.equal(await negotiated(listener.port), expected)
      assert.equal((await askOnce(`https://127.0.0.1:${listener.port}`, {})).text, 'ok')
    }
  })
})

describe('the listener handles certificates of clients and its own certificate', () => {
  test('a client certificate is passed to the handler unverified, and is not required', async () => {
    const names: (string | undefined)[] = []
    const same = new Set<unknown>()
    await using server = await start(async ({ peerCertificate }) => {
      same.add(peerCertificate())
      names.push(peerCertificate()?.certificate.subject)
      return text('ok')
    })
    const known = issue(authority, {
      commonName: 'alice',
      organizations: ['dev'],
      usage: 'client',
      hosts: [],
      nowMs: Date.now(),
    })
    const stranger = createSelfSigned('stranger', [], Date.now())
    for (const { certificatePem: cert, keyPem: key } of [known, stranger]) {
      const session = open(server.url, { cert, key })
      await ask(session, { ':path': '/' })
      await ask(session, { ':path': '/' })
      session.destroy()
    }
    await askOnce(server.url, {})
    assert.match(names[0] ?? '', /CN=alice/)
    assert.match(names[2] ?? '', /CN=stranger/)
    assert.equal(names[4], undefined)
    assert.equal(same.size, 3, 'one object for each connection')
  })

  test('the configured TLS curves also apply to named and renewed certificates', async () => {
    const named = createSelfSigned('named', ['named.example.com'], Date.now())
    await using listener = new Listener({
      handler: async () => text('ok'),
      tls: {
        ...certificate,
        tlsCurves: 'P-256',
        namedCertificates: [{ ...named, names: ['named.example.com'] }],
      },
      log: () => undefined,
    })
    await listener.listen(0, '127.0.0.1')
    const isAccepted = async (ecdhCurve: string, servername: string): Promise<boolean> => {
      const { port } = listener
      const options = { host: '127.0.0.1', rejectUnauthorized: false }
      const socket = connectTls({ ...options, port, ecdhCurve, servername })
      const isSecure = await once(socket, 'secureConnect').then(
        () => true,
        () => false,
      )
      socket.destroy()
      return isSecure
    }
    const results = async (): Promise<boolean[]> => [
      await isAccepted('P-256', 'other.example.com'),
      await isAccepted('X25519', 'other.example.com'),
      await isAccepted('P-256', 'named.example.com'),
      await isAccepted('X25519', 'named.example.com'),
    ]
    assert.deepEqual(await results(), [true, false, true, false])
    listener.setCertificate(createSelfSigned('renewed', ['127.0.0.1'], Date.now()))
    assert.deepEqual(await results(), [true, false, true, false])
  })

  test('a renewed certificate is used for new connections, but a broken one is not', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'keelson-listener-'))
    await using server = await start(async () => text('ok'))
    const files = { certificatePath: join(dir, 'crt'), keyPath: join(dir, 'key') }
    const warnings: string[] = []
    const followed = [
      { path: files.certificatePath, text: certificate.certificatePem },
      { path: files.keyPath, text: certificate.keyPem },
    ]
    using reloader = new FileReloader(followed, {
      what: 'the certificate',
      use: ([certificatePem = '', keyPem = '']) =>
        server.listener.setCertificate({ certificatePem, keyPem }),
      log: (level, message) => level === 'warn' && warnings.push(message),
    })
    const shown = async (): Promise<string | undefined> => {
      const socket = connectTls({
        port: server.listener.port,
        host: '127.0.0.1',
        rejectUnauthorized: false,
      })
      await once(socket, 'secureConnect')
      const subject = socket.getPeerX509Certificate()?.subject
      socket.destroy()
      return subject
    }
    assert.match((await shown()) ?? '', /CN=listener/)
    const renewed = createSelfSigned('renewed', ['127.0.0.1'], Date.now())
    await writeFile(files.certificatePath, renewed.certificatePem)
    await writeFile(files.keyPath, certificate.keyPem)
    await reloader.check()
    assert.ok(warnings.length > 0, 'a key of another certificate')
    assert.match((await shown()) ?? '', /CN=listener/)
    await writeFile(files.keyPath, renewed.keyPem)
    await reloader.check()
    assert.match((await shown()) ?? '', /CN=renewed/)
    await rm(dir, { recursive: true })
  })
})

const bodyLength: Handler = async (request) => {
  try {
    return text(`${(await request.body()).length}`)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { status: error.code, headers: json, body: Buffer.from(error.message) }
  }
}

const after50Ms: Handler = async () => {
  await sleep(50)
  return text('ok')
}

const quiet: Handler = async ({ signal }) => ({
  status: 200,
  headers: json,
  stream: (async function* () {
    yield [Buffer.from('first\n')]
    await once(signal, 'abort')
  })(),
})

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
const connectHttp1 = (port: number): TLSSocket => {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  socket.on('error', () => undefined)
  return socket
}
const post = (at: number): string =>
  `POST /${at} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n${at % 10}x`

describe('the listener enforces limits', () => {
  const BUDGET_BYTES = 32 << 20
  const HEAD_BYTES = 900_000
  const begins = [
    ['', 'unfinished HTTP/1.1 headers share the memory for large headers'],
    [
      'GET / HTTP/1.1\r\nhost: x\r\n\r\n',
      'unfinished headers that are pipelined share the memory for large headers',
    ],
  ] as const
  for (const [before, name] of begins)
    test(name, async () => {
      const COUNT = 60
      await using server = await start(async () => text('ok'))
      const { port } = server.listener
      const ends = { ended: 0 }
      const sockets = Array.from({ length: COUNT }, () => {
        const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
        socket.on('error', () => undefined)
        socket.on('close', () => ends.ended++)
        socket.resume()
        socket.write(`${before}GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(HEAD_BYTES)}`)
        return socket
      })
      const endedMin = COUNT - Math.floor(BUDGET_BYTES / HEAD_BYTES)
      await until(() => ends.ended >= endedMin, `${endedMin} of ${COUNT} are ended`)
      assert.ok(ends.ended < COUNT, 'the budget is enough for some of them')
      const { status } = await askOnce(server.url, {})
      assert.equal(status, 200, 'requests with small headers are still served')
      for (const socket of sockets) socket.destroy()
      while (server.listener.openConnections > 0) await sleep(10)
      const { text: answer } = await askOnce(server.url, {
        headers: { host: 'x', large: 'y'.repeat(HEAD_BYTES) },
      })
      assert.equal(answer, 'ok', 'the memory was released')
    })

  test('an HTTP/1.1 body does not count as headers, even if the handler does not read it', async () => {
    const SENT_BYTES = 1 << 20
    await using server = await start(async () => text('ok'))
    const { port } = server.listener
    const sockets = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
        socket.on('error', () => undefined)
        socket.resume()
        socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${SENT_BYTES + 1}\r\n\r\n`)
        await new Promise((resolve) => socket.write(Buffer.alloc(SENT_BYTES, 'y'), resolve))
        return socket
      }),
    )
    const { text: answer } = await askOnce(server.url, {
      headers: { host: 'x', large: 'y'.repeat(HEAD_BYTES) },
    })
    assert.equal(answer, 'ok', 'the memory for large headers is free')
    for (const socket of sockets) socket.destroy()
  })

  test('a request is rejected if its body does not arrive in time', async () => {
    await using server = await start(bodyLength, { bodyMsMax: 100 })
    const session = open(server.url)
    const stream = session.request({ ':path': '/', ':method': 'POST' }, { endStream: false })
    stream.write('x')
    const [head] = await once(stream, 'response')
    assert.equal(head[':status'], 400)
    stream.resume()
    await once(stream, 'close')
    session.destroy()
    const socket = connectTls({
      port: server.listener.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
    })
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nx')
    let answer = ''
    for await (const part of socket) answer += String(part)
    assert.match(answer, /^HTTP\/1.1 400 /)
    assert.match(answer, /connection: close/i)
  })

  test('a connection is closed if headers or a handshake do not arrive in time', async () => {
    await using server = await start(bodyLength, { headMsMax: 200, handshakeMsMax: 200 })
    const { port } = server.listener
    const slow = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    slow.write('GET / HTTP/1.1\r\nx')
    slow.resume()
    const silent = connectPlain(port, '127.0.0.1')
    silent.on('error', () => undefined).resume()
    await Promise.all([once(slow, 'close'), once(silent, 'close')])
  })

  test('a connection is closed if the client sends more than a ClientHello before the first TLS response of the server', async () => {
    await using server = await start(bodyLength)
    const client = connectPlain(server.listener.port, '127.0.0.1')
    client.on('error', () => undefined).resume()
    client.write(Buffer.alloc(60_000, 0x16))
    await once(client, 'close')
    assert.equal((await askOnce(server.url, {})).status, 200)
  })

  test('a TLS handshake can arrive in pieces', async () => {
    await using server = await start(async () => text('ok'))
    const plain = connectPlain(server.listener.port, '127.0.0.1')
    const inPieces = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _, done) => {
        plain.write(chunk.subarray(0, 1))
        setTimeout(() => plain.write(chunk.subarray(1), done), 20)
      },
      destroy: (error, done) => {
        plain.destroy()
        done(error)
      },
    })
    plain.on('data', (chunk) => inPieces.push(chunk)).on('close', () => inPieces.push(null))
    const client = connectTls({ socket: inPieces, rejectUnauthorized: false })
    client.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    let answer = ''
    for await (const part of client) answer += String(part)
    assert.match(answer, /^HTTP\/1.1 200 /)
  })

  test('a body that exceeds the limit is rejected, and the connection continues', async () => {
    await using server = await start(bodyLength, { bodyBytesMax: 1000 })
    const session = open(server.url)
    assert.equal(
      (await ask(session, { ':path': '/', ':method': 'POST' }, Buffer.alloc(100_000))).status,
      413,
    )
    assert.equal(
      (await ask(session, { ':path': '/', ':method': 'POST' }, Buffer.alloc(1000))).body.toString(),
      '1000',
    )
    session.destroy()
    const reported = await askOnce(server.url, { method: 'POST' }, Buffer.alloc(100_000)).catch(
      () => undefined,
    )
    if (reported !== undefined) assert.equal(reported.status, 413)
  })

  test('a stream ends even if the handler does not read the request body', async () => {
    await using server = await start(async () => text('ok'))
    const session = open(server.url)
    const stream = session.request({ ':path': '/', ':method': 'POST' }, { endStream: false })
    stream.write('x')
    stream.resume()
    await once(stream, 'close')
    assert.equal(stream.rstCode, constants.NGHTTP2_NO_ERROR)
    session.destroy()
  })

  test('a stream is reset if the client does not read the response', async () => {
    let asked = 0
    await using server = await start(
      async () => {
        asked++
        return large
      },
      { stallMsMax: 200 },
    )
    const session = open(server.url, { settings: { initialWindowSize: 1000 } })
    await once(session, 'remoteSettings')
    const stream = session.request({ ':path': '/' })
    stream.on('error', () => undefined)
    // The client reads so slowly that its flow-control window stays full.
    await once(stream, 'response')
    await once(stream, 'close')
    assert.equal(stream.rstCode, constants.NGHTTP2_CANCEL)
    session.destroy()
    const socket = connectTls({
      port: server.listener.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
    })
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await until(
      () => asked === 2 && server.listener.openConnections === 0,
      'the connection is cut off',
    )
    let bytes = 0
    socket.on('error', () => undefined)
    for await (const part of socket) bytes += part.length
    assert.ok(bytes < largeBytes, `${bytes} of ${largeBytes} bytes`)
  })

  test('pipelined requests are served one after the other', async () => {
    let [served, servedMax] = [0, 0]
    await using server = await start(async (request) => {
      const { path } = request
      servedMax = Math.max(servedMax, ++served)
      const sent = await request.body()
      await sleep(5)
      served--
      return text(`<${path} ${sent.toString()}>`)
    })
    const socket = connectHttp1(server.listener.port)
    const wanted = Array.from({ length: 100 }, (_, at) => at)
    let answers = ''
    socket.on('data', (piece: Buffer) => (answers += piece.toString()))
    // Send the bytes in pieces that do not end at the end of a request. Some pieces arrive while
    // earlier requests are still waiting for their response.
    const bytes = wanted.map(post).join('')
    for (let at = 0; at < bytes.length; at += 700) {
      socket.write(bytes.slice(at, at + 700))
      await sleep(2)
    }
    while ((answers.match(/</g) ?? []).length < wanted.length) await sleep(10)
    assert.deepEqual(
      answers.match(/<.*?>/g),
      wanted.map((at) => `</${at} ${at % 10}x>`),
    )
    assert.equal(servedMax, 1)
    socket.destroy()
  })

  test('a connection is closed if too many pipelined requests wait behind a slow one', async () => {
    const { promise: going, resolve: go } = Promise.withResolvers<void>()
    await using server = await start(async () => {
      await going
      return text('ok')
    })
    const few = connectHttp1(server.listener.port)
    few.write(GET.repeat(100))
    const many = connectHttp1(server.listener.port)
    const ended = new Promise((resolve) => void many.on('close', resolve))
    for (let times = 0; times < 100; times++) many.write(GET.repeat(500))
    await ended
    assert.equal(server.listener.openRequests, 1)
    go()
    let answers = ''
    for await (const piece of few) if ((answers += String(piece)).split('ok').length > 100) break
    few.destroy()
  })

  test('a client whose certificate is from a replaced authority cannot send further requests', async () => {
    const { promise: going, resolve: go } = Promise.withResolvers<void>()
    const seen: string[] = []
    await using server = await start(async ({ path, peerCertificate }) => {
      seen.push(path)
      if (path !== '/streamed') await going
      const body = Buffer.from(`outdated: ${peerCertificate()?.isOutdated ?? false}`)
      const { status, headers } = text('')
      if (path !== '/streamed') return { status, headers, body }
      // The headers of this response have already been sent. Therefore they cannot contain
      // `connection: close` anymore.
      const stream = (async function* () {
        yield [Buffer.from('begun')]
        await going
      })()
      return { status, headers, stream }
    })
    const { certificatePem: cert, keyPem: key } = issue(authority, {
      commonName: 'jane',
      usage: 'client',
      hosts: [],
      nowMs: Date.now(),
    })
    const { port } = server.listener
    const sockets = ['/slow', '/streamed'].map((path) => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, cert, key })
      const gone = new Promise(
        (resolve) => void socket.on('error', () => undefined).on('close', resolve),
      )
      let answers = ''
      socket.on('data', (piece: Buffer) => (answers += piece.toString()))
      socket.write(`${GET.replace('/', path)}${GET.replace('/', '/behind')}`)
      return { socket, gone, answers: () => answers }
    })
    while (seen.length < 2 || sockets[1]?.answers().includes('begun') !== true) await sleep(5)
    // Connect a client that has not completed its TLS handshake when the authorities change.
    const early = connectPlain({ port, host: '127.0.0.1' })
    const earlyGone = new Promise(
      (resolve) => void early.on('error', () => undefined).on('close', resolve),
    )
    await once(early, 'connect')
    await sleep(20)
    server.listener.setClientCa(createAuthority('next', Date.now()).certificatePem)
    await earlyGone
    for (const { socket } of sockets) socket.write(GET.replace('/', '/later'))
    await sleep(20)
    go()
    for (const { gone } of sockets) await gone
    assert.deepEqual(seen.toSorted(), ['/slow', '/streamed'])
    assert.match(sockets[0]?.answers() ?? '', /connection: close[^]*outdated: true$/i)
  })

  test('when a client disconnects, its waiting pipelined requests are dropped', async () => {
    let begun = 0
    await using server = await start(async ({ signal }) => {
      begun++
      await once(signal, 'abort')
      return text('late')
    })
    const socket = connectHttp1(server.listener.port)
    socket.write(GET)
    while (begun === 0) await sleep(5)
    socket.write(GET.repeat(3))
    await sleep(50)
    socket.destroy()
    while (server.listener.openRequests > 0) await sleep(5)
    assert.equal(begun, 1)
  })

  test('an upgrade that is pipelined behind an unfinished request ends the connection', async () => {
    await using server = await start(after50Ms)
    const socket = connectHttp1(server.listener.port)
    socket.write(
      `${GET}GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
    )
    await new Promise((resolve) => void socket.resume().on('close', resolve))
    const { status } = await askOnce(server.url, {})
    assert.equal(status, 200)
  })

  const floods: readonly [string, (session: ClientHttp2Session) => void][] = [
    [
      'requests that are canceled immediately',
      (session) => {
        const stream = session.request({ ':path': '/' })
        stream.on('error', () => undefined)
        stream.close(constants.NGHTTP2_CANCEL)
      },
    ],
    ['pings', (session) => session.ping(() => undefined)],
    ['settings', (session) => session.settings({ initialWindowSize: 65_535 })],
  ]
  for (const [what, flood] of floods) {
    test(`a flood of ${what} ends its connection, but no other connection`, async () => {
      const limits = {
        resetsBurst: 20,
        resetsPerSecond: 1,
        controlsBurst: 20,
        controlsPerSecond: 1,
      }
      await using server = await start(after50Ms, limits)
      const session = open(server.url, { maxOutstandingPings: 1000, maxOutstandingSettings: 1000 })
      const other = open(server.url)
      await once(session, 'connect')
      const gone = once(session, 'goaway')
      for (let round = 0; round < 40 && !session.destroyed; round++) {
        flood(session)
        await sleep(2)
      }
      assert.equal((await gone)[0], constants.NGHTTP2_ENHANCE_YOUR_CALM)
      assert.equal((await ask(other, { ':path': '/' })).status, 200)
      other.destroy()
    })
  }

  test('requests with too many or too large headers do not reach the handler', async () => {
    let reached = 0
    const counting: Handler = async () => {
      reached++
      return text('ok')
    }
    await using server = await start(counting, { headerBytesMax: 32_768, headersMax: 50 })
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`x-${at}`, 'y']))
    for (const headers of [{ 'x-long': 'y'.repeat(60_000) }, many]) {
      const session = open(server.url)
      // Wait until the client has acknowledged the SETTINGS frame of the server. Only then do its
      // limits apply.
      await once(session, 'remoteSettings')
      await new Promise((resolve) => void session.ping(resolve))
      await assert.rejects(ask(session, { ':path': '/', ...headers }), Object.keys(headers).join())
      session.destroy()
    }
    const { status } = await askOnce(server.url, { headers: { 'x-long': 'y'.repeat(60_000) } })
    assert.equal(status, 431)
    assert.equal(reached, 0)
  })

  test('an idle connection is closed, but not one with a watch that has no events', async () => {
    await using server = await start(quiet, { idleMsMax: 200 })
    const watching = open(server.url)
    const watch = watching.request({ ':path': '/' })
    await once(watch, 'data')
    const idle = open(server.url)
    await once(idle, 'close')
    await sleep(300)
    assert.ok(!watch.closed)
    watching.destroy()
  })

  test('connections that exceed the limit are rejected', async () => {
    await using server = await start(async () => text('ok'), { connectionsMax: 2 })
    const sessions = [open(server.url), open(server.url)]
    await Promise.all(sessions.map((session) => once(session, 'connect')))
    await assert.rejects(askOnce(server.url, {}))
    for (const session of sessions) session.destroy()
  })
})

async function whenClosed(socket: Duplex): Promise<number> {
  await once(socket.on('error', () => undefined).resume(), 'close')
  return performance.now()
}

/** A handler that returns a watch without events. */
const watched: Handler = async () => {
  let end: (() => void) | undefined
  let isOver = false
  const close = (): void => {
    isOver = true
    const onEnd = end
    end = undefined
    onEnd?.()
  }
  const onReady = (ready: () => void): void => {
    end = ready
  }
  return {
    status: 200,
    headers: json,
    frames: { take: () => (isOver ? undefined : []), onReady, close },
  }
}

describe('the listener shuts down gracefully', () => {
  test('during the shutdown, running requests get responses, watches end, and new requests are rejected', async () => {
    let begun = 0
    const { promise: ending, resolve: end } = Promise.withResolvers<void>()
    const handler: Handler = async (request) => {
      if (request.path === '/watch') return watched(request)
      begun++
      await ending
      return text('late')
    }
    const server = await start(handler)
    const session = open(server.url)
    const goaway = once(session, 'goaway')
    const watch = session.request({ ':path': '/watch' })
    assert.equal((await once(watch, 'response'))[0][':status'], 200)
    const slow = ask(session, { ':path': '/slow' })
    const oldVersion = askOnce(server.url, { headers: { connection: 'keep-alive' } })
    await until(() => begun === 2, 'both requests are running')
    const closed = server.listener.close({ graceMs: PATIENCE_MS })
    watch.resume()
    await Promise.all([once(watch, 'end'), goaway])
    assert.equal(watch.rstCode, constants.NGHTTP2_NO_ERROR)
    end()
    assert.equal((await slow).body.toString(), 'late')
    const { text: answer, headers } = await oldVersion
    assert.equal(answer, 'late')
    assert.ok('connection' in headers && headers.connection === 'close')
    await closed
    await assert.rejects(askOnce(server.url, {}))
  })

  test('a request that does not end is aborted after the grace period', async () => {
    const server = await start(() => new Promise(() => undefined))
    const session = open(server.url)
    const stream = session.request({ ':path': '/' })
    stream.on('error', () => undefined)
    await until(() => server.listener.openRequests === 1, 'the request is running')
    const startMs = performance.now()
    await server.listener.close({ graceMs: 100 })
    assert.ok(performance.now() - startMs < PATIENCE_MS / 2, `${performance.now() - startMs} ms`)
    session.destroy()
  })

  test('an unfinished handshake does not delay the shutdown', async () => {
    const server = await start(async () => text('ok'))
    const silent = connectPlain(server.listener.port, '127.0.0.1')
    silent.on('error', () => undefined)
    await once(silent, 'connect')
    await askOnce(server.url, {})
    const startMs = performance.now()
    await server.listener.close({ graceMs: 2 * PATIENCE_MS })
    assert.ok(performance.now() - startMs < PATIENCE_MS, `${performance.now() - startMs} ms`)
  })

  test('a slow client receives the rest of its response during the shutdown', async () => {
    const BODY_BYTES = 6_000_000
    const server = await start(async () => ({
      status: 200,
      headers: json,
      body: Buffer.alloc(BODY_BYTES),
    }))
    const windows = [
      settings([SETTING.INITIAL_WINDOW_SIZE, 1 << 24]),
      frame(FRAME.WINDOW_UPDATE, 0, 0, uint32(1 << 24)),
    ]
    using client = await RawHttp2.open(server.listener.port, Buffer.concat([preface, ...windows]))
    await client.send(headersFrame(1, requestFields('GET', '/')))
    await client.until(({ type }) => type === FRAME.DATA)
    client.socket.pause()
    const closed = server.listener.close({ graceMs: PATIENCE_MS })
    // Pause for longer than a closing connection is usually kept open. The connection must stay
    // open until the client has received the response.
    await sleep(2500)
    client.socket.resume()
    assert.ok(
      await client.until(({ type, flags }) => type === FRAME.DATA && (flags & END_STREAM) !== 0),
    )
    const bytes = client.received.reduce(
      (sum, { type, payload }) => sum + (type === FRAME.DATA ? payload.length : 0),
      0,
    )
    assert.equal(bytes, BODY_BYTES)
    await closed
  })

  test('at shutdown, the listener closes watches gradually during the grace period', async () => {
    // The listener closes one watch every 5 ms, so closing all of them takes two seconds. Two
    // connections are used, because one connection does not allow this many streams.
    const WATCHES = 400
    const server = await start(watched)
    const sessions = [open(server.url), open(server.url)]
    const endsMs: number[] = []
    const ends = Array.from({ length: WATCHES }, async (_, at) => {
      const watch = (sessions[at % 2] ?? assert.fail()).request({ ':path': '/' })
      await once(watch, 'response')
      watch.resume()
      await once(watch, 'end')
      endsMs.push(performance.now())
    })
    while (server.listener.openRequests < WATCHES) await sleep(10)
    await server.listener.close({ graceMs: 0, watchGraceMs: 3_000 })
    await Promise.all(ends)
    // The measured time is shorter than these two seconds if the test notices the first end late,
    // as on a busy machine.
    const spreadMs = Math.max(...endsMs) - Math.min(...endsMs)
    assert.ok(spreadMs > 1_000, `within ${spreadMs} ms`)
    for (const session of sessions) session.destroy()
  })

  test('at shutdown, the listener closes watches over WebSockets gradually, but other tunnels immediately', async () => {
    // The listener closes one watch every 5 ms, so closing all of them takes half a second.
    const WATCHES = 100
    const server = await start(async (request) => {
      const watch = await watched(request)
      assert.ok('frames' in watch)
      const answer = overWebSocket(request, watch.frames, 'json')
      return request.path === '/watch'
        ? answer
        : { status: 101, headers: answer.headers, tunnel: () => undefined }
    })
    const upgrade = async (path: string): Promise<Duplex> => {
      const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'k' }
      const asked = httpsRequest(`${server.url}${path}`, {
        headers,
        rejectUnauthorized: false,
        agent: false,
      })
      const [, socket]: Duplex[] = await once(asked.end(), 'upgrade')
      return socket ?? assert.fail()
    }
    const watches = await Promise.all(Array.from({ length: WATCHES }, () => upgrade('/watch')))
    const watchEnds = Promise.all(watches.map(whenClosed))
    const tunnelEnd = whenClosed(await upgrade('/tunnel'))
    await server.listener.close({ graceMs: 0, watchGraceMs: 3_000 })
    const endsMs = await watchEnds
    const spreadMs = Math.max(...endsMs) - Math.min(...endsMs)
    assert.ok(spreadMs > 250, `within ${spreadMs} ms`)
    assert.ok((await tunnelEnd) < Math.max(...endsMs) - 250)
  })

  test('a closed connection is no longer counted as open', async () => {
    await using server = await start(async () => text('ok'))
    const session = open(server.url)
    await ask(session, { ':path': '/' })
    assert.equal(server.listener.openConnections, 1)
    session.destroy()
    await askOnce(server.url, {})
    await until(() => server.listener.openConnections === 0, 'both connections are closed')
  })
})
