import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createTcpServer, type Server } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { createSelfSigned } from '../../lib/x509/certificates.ts'
import { serverTrustAnchors } from '../../lib/x509/trust-anchors.ts'
import { Connections } from './connections.ts'
import { ReceivedAnswers } from './received.ts'
import type { Answer } from './send.ts'

const { certificatePem: cert, keyPem: key } = createSelfSigned('hook', ['127.0.0.1'], Date.now())

type Peer = {
  readonly send: (ms: number) => Promise<Answer>
  readonly connections: Connections
} & AsyncDisposable

/** Starts the server. The returned `send` makes a call, and aborts it after `ms`. */
async function callerOf(server: Server, timeoutMs = 5_000): Promise<Peer> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const connections = new Connections({ anchors: serverTrustAnchors(cert), timeoutMs })
  const call = {
    target: { host: '127.0.0.1', port: address.port, path: '/' },
    authority: 'hook',
    headers: {},
    body: '{}',
    received: new ReceivedAnswers(),
  }
  return {
    connections,
    send: (ms) => connections.send({ ...call, signal: AbortSignal.timeout(ms) }, undefined),
    async [Symbol.asyncDispose]() {
      connections.close()
      server.close()
    },
  }
}

/**
 * Creates a server that negotiates HTTP/2 during the TLS handshake. `onConnection` then sends and
 * receives raw frames.
 */
const withFrames = (onConnection: (socket: TLSSocket) => void): Server =>
  createTlsServer({ cert, key, ALPNProtocols: ['h2'] }, (socket) => {
    socket.on('error', () => undefined)
    onConnection(socket)
  })

const silentTcp = (): Server =>
  createTcpServer((socket) => socket.on('error', () => undefined).resume())
const silentHttp2 = (): Server => withFrames((socket) => socket.resume())

for (const [where, silent] of [
  ['in the handshake', silentTcp],
  ['before SETTINGS', silentHttp2],
] as const) {
  test(`a call that waits for a connection that is being opened for another call has its own timeout (peer silent ${where})`, async () => {
    const server = silent()
    await using peer = await callerOf(server, 500)
    const first = peer.send(500).catch((error: unknown) => error)
    await sleep(400)
    const startMs = performance.now()
    await assert.rejects(peer.send(450), { name: 'AbortError' })
    const tookMs = performance.now() - startMs
    assert.ok(tookMs > 400, `after ${tookMs} of 450 ms`)
    assert.ok((await first) instanceof DOMException)
  })
}

const FRAME = { DATA: 0, HEADERS: 1, RST_STREAM: 3, SETTINGS: 4, PING: 6, GOAWAY: 7 } as const
const END_STREAM = 1
const END_HEADERS = 4

function frame(type: number, { flags = 0, stream = 0, payload = Buffer.alloc(0) } = {}): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

const settings = frame(FRAME.SETTINGS)
/**
 * A HEADERS frame with `:status: 200`, which is entry 8 of the static table (RFC 7541, appendix A).
 */
const okHead = frame(FRAME.HEADERS, { flags: END_HEADERS, stream: 1, payload: Buffer.from([0x88]) })

/**
 * Sends `frames` when the body of the first call has arrived. This is the case when a DATA frame
 * with END_STREAM arrives on stream 1.
 */
const answering = (socket: TLSSocket, frames: readonly Buffer[]): void => {
  const body = frame(FRAME.DATA, { flags: END_STREAM, stream: 1, payload: Buffer.from('{}') })
  let received = Buffer.alloc(0)
  socket.write(settings)
  socket.on('data', (chunk) => {
    const isNew = !received.includes(body)
    received = Buffer.concat([received, chunk])
    if (isNew && received.includes(body)) socket.write(Buffer.concat(frames))
  })
}

test('if a webhook closes each connection immediately, only a few connections are opened', async () => {
  let opened = 0
  const server = withFrames((socket) => {
    opened++
    socket
      .resume()
      .write(Buffer.concat([settings, frame(FRAME.GOAWAY, { payload: Buffer.alloc(8) })]))
  })
  await using peer = await callerOf(server)
  await assert.rejects(peer.send(5_000), { message: 'EOF' })
  assert.ok(opened <= 3, `${opened} connections`)
})

test('a call fails if its response is reset before its end, even with NO_ERROR', async () => {
  const part = frame(FRAME.DATA, {
    stream: 1,
    payload: Buffer.from('response:\n  allowed: true\n'),
  })
  const reset = frame(FRAME.RST_STREAM, { stream: 1, payload: Buffer.alloc(4) })
  const server = withFrames((socket) => answering(socket, [okHead, part, reset]))
  await using peer = await callerOf(server)
  await assert.rejects(peer.send(5_000), /reset with code 0/)
})

const answer = frame(FRAME.DATA, { flags: END_STREAM, stream: 1, payload: Buffer.from('{}') })

test('`close` closes the connection even if the webhook keeps sending data', async () => {
  const ended = Promise.withResolvers<void>()
  const server = withFrames((socket) => {
    answering(socket, [okHead, answer])
    const timer = setInterval(
      () => socket.write(frame(FRAME.PING, { payload: Buffer.alloc(8) })),
      100,
    )
    socket.on('close', () => {
      clearInterval(timer)
      ended.resolve()
    })
  })
  // When the client has ended its side, keep the other side open. By default, Node would end it.
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.allowHalfOpen = true
  })
  await using peer = await callerOf(server)
  assert.equal((await peer.send(5_000)).text, '{}')
  peer.connections.close()
  const isEnded = await Promise.race([
    ended.promise.then(() => true),
    sleep(60_000, false, { ref: false }),
  ])
  assert.ok(isEnded)
})
