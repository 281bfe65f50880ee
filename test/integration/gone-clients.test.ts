/**
 * Tests clients that disconnect while their request is being handled. The server must not execute
 * anything that they did not request, and must release all resources.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import type { ApiRequest, ApiResponse } from '../../src/api/request.ts'
import type { Limits } from '../../src/net/http/limits.ts'
import { Listener } from '../../src/net/http/listener.ts'
import { ByteBudget } from '../../src/lib/bytes/byte-budget.ts'
import { createSelfSigned } from '../../src/lib/x509/certificates.ts'
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  field,
  frame,
  headersFrame,
  longHeaders,
  preface,
  RawHttp2,
  requestFields,
  reset,
  SETTING,
  settings,
  uint32,
} from '../support/harness/raw-http2.ts'
import { until } from '../support/harness/until.ts'

const CANCEL = 8

/** Starts a listener whose handler responds when the test calls `answer`. */
async function start(limits: Partial<Limits> = {}, budget?: ByteBudget) {
  const asked: {
    readonly request: ApiRequest
    readonly answer: (response: ApiResponse) => void
  }[] = []
  let onAsked: (() => void) | undefined
  const complaints: string[] = []
  const listener = new Listener({
    tls: createSelfSigned('gone', ['127.0.0.1'], Date.now()),
    limits,
    ...(budget && { budget }),
    handler: (request) =>
      new Promise((answer) => {
        asked.push({ request, answer })
        onAsked?.()
      }),
    log: (level, message, fields) =>
      level === 'error' && complaints.push(`${message} ${JSON.stringify(fields)}`),
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

/** Returns a watch that counts how often it is closed. */
function watchAnswer(closed: { count: number }): ApiResponse {
  const frames = { take: () => [], onReady: () => undefined, close: () => void closed.count++ }
  return { status: 200, headers: {}, frames }
}

const end: ApiResponse = { status: 200, headers: {}, body: Buffer.alloc(0) }

test('the body of a request that the client aborts is not mistaken for an empty body', async () => {
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

test('a watch is closed if its client disconnects before the watch starts', async () => {
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
  assert.equal(server.listener.openRequests, 0, 'no request is left open')
})

async function upgrade(port: number): Promise<TLSSocket> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
  return socket
}

/**
 * Returns a response that takes over the connection, and a promise that resolves when the
 * connection is closed.
 */
function tunnelAnswer(): { readonly answer: ApiResponse; readonly closed: Promise<void> } {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const tunnel = (socket: Duplex): void => void socket.on('close', resolve)
  return { answer: { status: 101, headers: {}, tunnel }, closed }
}

test('a tunnel is closed if its client disconnects before the tunnel starts', {
  timeout: 120_000,
}, async () => {
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

test('a tunnel that starts during the shutdown of the server is closed', {
  timeout: 120_000,
}, async () => {
  await using server = await start()
  const socket = await upgrade(server.listener.port)
  const { answer } = await server.next()
  const stopped = server.listener.close({ graceMs: 1_000 })
  const tunnel = tunnelAnswer()
  answer(tunnel.answer)
  await tunnel.closed
  await Promise.all([stopped, socket.destroyed || once(socket, 'close')])
})

/**
 * Counts the responses that occupy a slot. The number of slots limits the number of requests in
 * progress.
 */
class InFlightSlots {
  open = 0
  readonly place = { leave: (): void => void this.open-- }

  answer(body: Buffer = Buffer.alloc(200_000)): ApiResponse {
    this.open++
    return { status: 200, headers: {}, body, place: this.place }
  }

  async gone(): Promise<void> {
    await until(() => this.open <= 0, 'the slot is released')
    // Wait a moment before the check, to detect that the slot is released twice.
    await sleep(20)
    assert.equal(this.open, 0)
  }
}

const noWindow = Buffer.concat([preface, settings([SETTING.INITIAL_WINDOW_SIZE, 0])])
const windowUpdate = (stream: number, bytes: number): Buffer =>
  frame(FRAME.WINDOW_UPDATE, 0, stream, uint32(bytes))

test('over HTTP/2, the in-flight slot of a request is released once, regardless of which side ends the exchange', {
  timeout: 120_000,
}, async () => {
  await using server = await start()
  const places = new InFlightSlots()
  using client = await RawHttp2.open(server.listener.port, noWindow)
  const ask = async (id: number, method = 'GET'): Promise<void> => {
    await client.send(headersFrame(id, requestFields(method, '/')))
    const { answer } = await server.next()
    answer(places.answer())
    assert.ok(await client.until(({ type, stream }) => type === FRAME.HEADERS && stream === id))
  }
  await ask(1, 'HEAD')
  await places.gone()
  await ask(3)
  await sleep(50)
  assert.equal(places.open, 1, 'the client has not read the response')
  await client.send(windowUpdate(3, 200_000), windowUpdate(0, 200_000))
  await places.gone()
  await ask(5)
  await client.send(reset(5, CANCEL))
  await places.gone()
  await client.send(headersFrame(7, requestFields('GET', '/')))
  const { request, answer } = await server.next()
  const { signal } = request
  await client.send(reset(7, CANCEL))
  if (!signal.aborted) await once(signal, 'abort')
  answer(places.answer())
  await places.gone()
  await ask(9)
  client.socket.destroy()
  await places.gone()
})

test('over HTTP/2, the in-flight slot of a request is released once when its client stalls', {
  timeout: 120_000,
}, async () => {
  await using server = await start({ stallMsMax: 400 })
  const places = new InFlightSlots()
  using client = await RawHttp2.open(server.listener.port, noWindow)
  const ask = async (id: number): Promise<void> => {
    await client.send(headersFrame(id, requestFields('GET', '/')))
    const { answer } = await server.next()
    answer(places.answer())
  }
  await ask(1)
  assert.equal(await client.resetCode(1), CANCEL, 'the client stalls')
  await places.gone()
  await ask(3)
  const trickling = setInterval(() => void client.send(windowUpdate(3, 1)), 20)
  assert.equal(await client.resetCode(3), CANCEL, 'a byte now and then is not enough progress')
  clearInterval(trickling)
  await places.gone()
})

test('over HTTP/1.1, the in-flight slot of a request is released once, regardless of which side ends the exchange', {
  timeout: 120_000,
}, async () => {
  await using server = await start()
  const places = new InFlightSlots()
  const ask = async (): Promise<TLSSocket> => {
    const socket = connect({
      port: server.listener.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
    })
    socket.on('error', () => undefined)
    await once(socket, 'secureConnect')
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    return socket
  }
  for (const bytes of [0, 100, 200_000]) {
    const socket = await ask()
    socket.resume()
    const { answer } = await server.next()
    answer(places.answer(Buffer.alloc(bytes)))
    await places.gone()
    socket.destroy()
  }
  const slow = await ask()
  slow.pause()
  const { answer } = await server.next()
  answer(places.answer(Buffer.alloc(50_000_000)))
  await sleep(50)
  assert.equal(places.open, 1, 'the client has not read the response')
  slow.destroy()
  await places.gone()
  const gone = await ask()
  const { request, answer: answerLate } = await server.next()
  const { signal } = request
  gone.destroy()
  if (!signal.aborted) await once(signal, 'abort')
  answerLate(places.answer())
  await places.gone()
  const refused = await upgrade(server.listener.port)
  refused.resume()
  const asked = await server.next()
  asked.answer(places.answer())
  await places.gone()
  refused.destroy()
})

test('the memory of a request stays reserved until the request has been handled, even if its client disconnects', {
  timeout: 120_000,
}, async () => {
  const budget = new ByteBudget(64 << 20)
  await using server = await start({}, budget)
  using client = await RawHttp2.open(server.listener.port)
  for (const id of [1, 3]) {
    await client.send(
      headersFrame(id, requestFields('POST', '/'), END_HEADERS),
      frame(FRAME.DATA, END_STREAM, id, Buffer.alloc(10_000, ' ')),
    )
    const { request, answer } = await server.next()
    const { signal } = request
    await request.body()
    const heldBytes = budget.used
    assert.ok(heldBytes >= 10_000)
    if (id === 1) await client.send(reset(id, CANCEL))
    else client.socket.destroy()
    if (!signal.aborted) await once(signal, 'abort')
    assert.equal(budget.used, heldBytes, 'the body is still in memory')
    answer(end)
    await until(() => budget.used === 0, 'the memory is released')
  }
})

test('headers of requests in progress count toward the memory limit, even if their clients disconnect', async () => {
  await using server = await start()
  const port = server.listener.port
  const answers: (() => void)[] = []
  const http1 = `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'y'.repeat(1_040_000)}\r\n\r\n`
  const http2 = longHeaders(1, requestFields('GET', '/', field('x-long', 'y'.repeat(1_040_000))))
  // Send more large headers than the 32 MB that all requests together may use.
  for (let at = 0; at < 32; at++) {
    using client = await RawHttp2.open(port)
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    socket.on('error', () => undefined)
    await once(socket, 'secureConnect')
    if (at % 2 === 0) await client.send(http2)
    else socket.write(http1)
    const { request, answer } = await server.next()
    answers.push(() => answer(end))
    const { signal } = request
    client.socket.destroy()
    socket.destroy()
    if (!signal.aborted) await once(signal, 'abort')
  }
  using refused = await RawHttp2.open(port)
  await refused.send(http2)
  assert.ok(await refused.goawayCode(5_000), 'there is no memory for another request')
  for (const answer of answers) answer()
  await until(() => server.listener.openRequests === 0, 'all requests have a response')
  using served = await RawHttp2.open(port)
  await served.send(http2)
  const { answer } = await server.next()
  answer(end)
  assert.ok(await served.until(({ type }) => type === FRAME.HEADERS))
})
