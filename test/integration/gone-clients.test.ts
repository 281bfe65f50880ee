/** Clients that go away while their request is still being worked on: nothing is done that they did not ask for, and nothing stays. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import type { ApiRequest, ApiResponse } from '../../src/api/request.ts'
import { Listener } from '../../src/http/listener.ts'
import { createSelfSigned } from '../../src/lib/x509/certificates.ts'
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  frame,
  headersFrame,
  RawHttp2,
  requestFields,
  reset,
} from '../harness/raw-http2.ts'

const CANCEL = 8

/** A handler that answers when the test says so. */
async function start() {
  const asked: { readonly request: ApiRequest; readonly answer: (response: ApiResponse) => void }[] = []
  let onAsked: (() => void) | undefined
  const complaints: string[] = []
  const listener = new Listener({
    ...createSelfSigned('gone', ['127.0.0.1'], Date.now()),
    handler: (request) =>
      new Promise((answer) => {
        asked.push({ request, answer })
        onAsked?.()
      }),
    log: (level, message, fields) => level === 'error' && complaints.push(`${message} ${JSON.stringify(fields)}`),
  })
  await listener.listen(0, '127.0.0.1')
  return {
    listener,
    complaints,
    next: async () => {
      for (;;) {
        const first = asked.shift()
        if (first !== undefined) return first
        await new Promise<void>((resolve) => {
          onAsked = resolve
        })
      }
    },
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  }
}

/** Whoever has been told to stop is counted. */
function watchAnswer(closed: { count: number }): ApiResponse {
  const frames = { take: () => [], onReady: () => undefined, close: () => void closed.count++ }
  return { status: 200, headers: {}, frames }
}

const end: ApiResponse = { status: 200, headers: {}, body: Buffer.alloc(0) }

test('a body that was given up is not taken for an empty one', async () => {
  await using server = await start()
  using client = await RawHttp2.open(server.listener.port)
  const fields = requestFields('DELETE', '/')
  await client.send(
    headersFrame(1, fields, END_HEADERS),
    frame(FRAME.DATA, END_STREAM, 1, Buffer.from('{"dryRun":["All"]}')),
  )
  const { request, answer } = await server.next()
  const { signal } = request
  await client.send(reset(1, CANCEL))
  if (!signal.aborted) await once(signal, 'abort')
  await assert.rejects(request.body(), /the connection ended before the body did/)
  answer(end)
})

test('a watch whose client has gone before it began is not kept', async () => {
  await using server = await start()
  using client = await RawHttp2.open(server.listener.port)
  const closed = { count: 0 }
  for (let id = 1; id < 1_000; id += 2) {
    await client.send(headersFrame(id, requestFields('GET', '/')))
    const { request, answer } = await server.next()
    const { signal } = request
    await client.send(reset(id, CANCEL))
    if (!signal.aborted) await once(signal, 'abort')
    answer(watchAnswer(closed))
  }
  await new Promise(setImmediate)
  assert.equal(closed.count, 500)
  // The ends of 500 watches would be spread over 2.5 seconds.
  const startMs = performance.now()
  await server.listener.close({ graceMs: 1_000, watchGraceMs: 60_000 })
  assert.ok(performance.now() - startMs < 1_500, 'there is nothing left to end')
})

async function upgrade(port: number): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
  return socket
}

/** An answer that takes the connection over, and tells when whoever has it is told that it is closed. */
function tunnelAnswer(): { readonly answer: ApiResponse; readonly closed: Promise<void> } {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const tunnel = (socket: Duplex): void => void socket.on('close', resolve)
  return { answer: { status: 101, headers: {}, tunnel }, closed }
}

test('a tunnel whose client has gone before it began is closed', { timeout: 5_000 }, async () => {
  await using server = await start()
  const socket = await upgrade(server.listener.port)
  const { request, answer } = await server.next()
  const { signal } = request
  socket.destroy()
  if (!signal.aborted) await once(signal, 'abort')
  const tunnel = tunnelAnswer()
  answer(tunnel.answer)
  await tunnel.closed
})

test('a tunnel that begins while the server stops is closed', { timeout: 5_000 }, async () => {
  await using server = await start()
  const socket = await upgrade(server.listener.port)
  const { answer } = await server.next()
  const stopped = server.listener.close({ graceMs: 1_000 })
  const tunnel = tunnelAnswer()
  answer(tunnel.answer)
  await tunnel.closed
  await Promise.all([stopped, socket.destroyed || once(socket, 'close')])
})
