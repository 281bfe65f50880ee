/**
 * Tests floods of frames that are cheap to send. Each flood must end its own connection, and cost
 * the server and other clients little.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Handler } from '../../src/api/request.ts'
import { measureFootprint } from '../support/harness/leaks.ts'
import {
  ACK,
  END_HEADERS,
  END_STREAM,
  field,
  FRAME,
  frame,
  headersFrame,
  longHeaders,
  preface,
  RawHttp2,
  requestFields,
  SETTING,
  settings,
  uint32,
} from '../support/harness/raw-http2.ts'
import { until } from '../support/harness/until.ts'
import { startListener } from './listener-under-attack.ts'
import { startTestServer } from './support.ts'

const NO_ERROR = 0
const CANCEL = 8
const ENHANCE_YOUR_CALM = 11
const never: Handler = () => new Promise(() => undefined)
const readsBody: Handler = async (call) => {
  await call.body().catch(() => undefined)
  return never(call)
}

const refuses: Handler = async () => ({
  status: 401,
  headers: {},
  body: Buffer.from('no'),
  isUnauthenticated: true,
})

describe('floods of DATA frames are limited', () => {
  test('a body in frames of one byte takes about as much memory as an ordinary body', async () => {
    const BODY_BYTES = 200_000
    const GROWTH_BYTES_MAX = 4_000_000
    await using server = await startListener(readsBody, { controlsBurst: 2 * BODY_BYTES })
    using client = await RawHttp2.open(server.port)
    await client.send(headersFrame(1, requestFields('POST', '/'), END_HEADERS))
    const before = measureFootprint()
    const batch = Buffer.concat(
      Array.from({ length: 1000 }, () => frame(FRAME.DATA, 0, 1, Buffer.from('a'))),
    )
    for (let sent = 0; sent < BODY_BYTES; sent += 1000) await client.send(batch)
    // The server enlarges the flow-control window when it has received the bytes.
    assert.ok(
      await client.until(({ type, stream }) => type === FRAME.WINDOW_UPDATE && stream === 1),
    )
    const grownBytes = measureFootprint().memoryBytes - before.memoryBytes
    assert.ok(grownBytes < GROWTH_BYTES_MAX, `${grownBytes} bytes for a body of ${BODY_BYTES}`)
  })

  test('a flood of one-byte frames ends its connection', async () => {
    await using server = await startListener(readsBody)
    using client = await RawHttp2.open(server.port)
    await client.send(headersFrame(1, requestFields('POST', '/'), END_HEADERS))
    for (let round = 0; round < 3000 && !client.isOver; round += 100) {
      await client.send(
        ...Array.from({ length: 100 }, () => frame(FRAME.DATA, 0, 1, Buffer.from('a'))),
      )
    }
    assert.equal(await client.goawayCode(), ENHANCE_YOUR_CALM)
    assert.deepEqual(server.connectionErrors, ['ENHANCE_YOUR_CALM too many small DATA frames'])
  })
})

describe('SETTINGS frames are limited and applied in order', () => {
  test('a SETTINGS frame with more than 32 entries ends the connection', async () => {
    await using server = await startListener(never)
    using client = await RawHttp2.open(server.port)
    const entries = Array.from(
      { length: 33 },
      (_, at) => [SETTING.INITIAL_WINDOW_SIZE, 65_535 + (at % 2)] as const,
    )
    await client.send(settings(...entries.slice(1)))
    assert.ok(await client.until(({ type, flags }) => type === FRAME.SETTINGS && flags === ACK))
    assert.ok(!client.isOver)
    await client.send(settings(...entries))
    assert.equal(await client.goawayCode(), ENHANCE_YOUR_CALM)
    assert.deepEqual(server.connectionErrors, ['ENHANCE_YOUR_CALM SETTINGS has too many entries'])
  })

  test('if a SETTINGS frame has several initial windows, the last one applies', async () => {
    await using server = await startListener(async () => ({
      status: 200,
      headers: {},
      body: Buffer.alloc(1000),
    }))
    const windows = [0, 500, 100].map((window) => [SETTING.INITIAL_WINDOW_SIZE, window] as const)
    using client = await RawHttp2.open(server.port, Buffer.concat([preface, settings(...windows)]))
    await client.send(headersFrame(1, requestFields('GET', '/')))
    const data = await client.until(({ type }) => type === FRAME.DATA)
    assert.equal(data?.payload.length, 100)
  })
})

describe('connections of unauthenticated clients are limited', () => {
  test('an unauthenticated client with a window of 0 is disconnected', async () => {
    await using server = await startListener(refuses, { unauthenticatedStallMsMax: 200 })
    const first = Buffer.concat([preface, settings([SETTING.INITIAL_WINDOW_SIZE, 0])])
    using client = await RawHttp2.open(server.port, first)
    await client.send(
      ...Array.from({ length: 250 }, (_, at) =>
        headersFrame(1 + 2 * at, requestFields('GET', '/')),
      ),
    )
    assert.equal(await client.resetCode(1), CANCEL)
    assert.ok(await client.closed(), 'the connection is closed')
  })

  test('an unauthenticated client that reads nothing is disconnected', async () => {
    await using server = await startListener(
      async () => ({
        status: 401,
        headers: {},
        body: Buffer.alloc(1_000_000),
        isUnauthenticated: true,
      }),
      { unauthenticatedStallMsMax: 200 },
    )
    using client = await RawHttp2.open(server.port)
    client.socket.pause()
    const opens = [
      frame(FRAME.WINDOW_UPDATE, 0, 0, uint32(0x7fff0000)),
      settings([SETTING.INITIAL_WINDOW_SIZE, 1 << 24]),
    ]
    await client.send(
      ...opens,
      ...Array.from({ length: 20 }, (_, at) => headersFrame(1 + 2 * at, requestFields('GET', '/'))),
    )
    await server.connections(1)
    await server.connections(0)
  })

  test('after the first unauthenticated request, the connection accepts no further request', async () => {
    await using server = await startListener(refuses)
    using client = await RawHttp2.open(server.port)
    await client.send(headersFrame(1, requestFields('GET', '/')))
    assert.equal(await client.goawayCode(), NO_ERROR)
    assert.ok(
      await client.until(({ type, flags }) => type === FRAME.DATA && (flags & END_STREAM) !== 0),
      'the first request has a response',
    )
    assert.ok(await client.closed())
  })

  test('after a request that cannot be parsed, the connection accepts no further request', async () => {
    await using server = await startListener(async () => ({
      status: 200,
      headers: {},
      body: Buffer.alloc(0),
    }))
    using nobody = await RawHttp2.open(server.port)
    await nobody.send(headersFrame(1, requestFields('GET', '/%')))
    assert.equal(await nobody.goawayCode(), NO_ERROR)
    using known = await RawHttp2.open(server.port)
    await known.send(headersFrame(1, requestFields('GET', '/')))
    await known.until(({ type, stream }) => type === FRAME.HEADERS && stream === 1)
    await known.send(
      headersFrame(3, requestFields('GET', '/%')),
      headersFrame(5, requestFields('GET', '/')),
    )
    assert.ok(
      await known.until(({ type, stream }) => type === FRAME.HEADERS && stream === 5),
      'the connection continues',
    )
  })

  test('an impersonation header that is empty or unknown does not make a request count as authenticated', async () => {
    await using server = await startTestServer()
    for (const name of ['impersonate-foo', 'impersonate-user']) {
      using client = await RawHttp2.open(Number(new URL(server.url).port))
      await client.send(
        headersFrame(
          1,
          requestFields('GET', '/healthz', field(name, name.endsWith('user') ? '' : 'x')),
        ),
      )
      assert.equal(await client.goawayCode(), NO_ERROR, name)
    }
  })

  test('an authenticated client that is not allowed to impersonate keeps its connection', async () => {
    await using server = await startTestServer()
    using client = await RawHttp2.open(Number(new URL(server.url).port))
    const bob = field('authorization', 'Bearer bob-token')
    const asOther = Buffer.concat([bob, field('impersonate-user', 'other')])
    await client.send(headersFrame(1, requestFields('GET', '/healthz', asOther)))
    assert.ok(await client.until(({ type, stream }) => type === FRAME.HEADERS && stream === 1))
    await client.send(headersFrame(3, requestFields('GET', '/healthz', bob)))
    assert.ok(await client.until(({ type, stream }) => type === FRAME.HEADERS && stream === 3))
  })
})

describe('floods of headers are limited', () => {
  test('unfinished headers of many connections share a budget', async () => {
    const LARGE_BYTES = 900_000
    await using server = await startListener(never)
    const clients: RawHttp2[] = []
    for (let at = 0; at < 40; at++) {
      const client = await RawHttp2.open(server.port)
      clients.push(client)
      await client.send(longHeaders(1, Buffer.alloc(LARGE_BYTES), { isEnd: false }))
    }
    const last = clients.at(-1)
    assert.equal(await last?.goawayCode(), ENHANCE_YOUR_CALM)
    assert.match(server.connectionErrors.at(-1) ?? '', /too many large field blocks at once/)
    using small = await RawHttp2.open(server.port)
    await small.send(
      longHeaders(1, requestFields('GET', '/', field('x', 'y'.repeat(15_000))), {
        frameBytes: 1000,
      }),
    )
    await small.send(
      headersFrame(3, requestFields('GET', '/'), END_HEADERS | END_STREAM),
      frame(FRAME.PING, 0, 0, Buffer.alloc(8)),
    )
    assert.ok(await small.until(({ type }) => type === FRAME.PING), 'other clients are not delayed')
    for (const client of clients) client[Symbol.dispose]()
    await server.connections(1)
    using next = await RawHttp2.open(server.port)
    await next.send(longHeaders(1, Buffer.alloc(LARGE_BYTES), { isEnd: false }), Buffer.alloc(0))
    assert.equal(await next.goawayCode(100), undefined, 'the budget is free again')
  })

  test('headers that are not complete in time end the connection', async () => {
    await using server = await startListener(never, { headMsMax: 200, idleMsMax: 400 })
    using client = await RawHttp2.open(server.port)
    await client.send(headersFrame(1, requestFields('GET', '/'), END_STREAM))
    // Wait for less than the default timeout of the server, so that the test fails if the server
    // ignores the configured timeout.
    assert.equal(await client.goawayCode(20_000), ENHANCE_YOUR_CALM)
    assert.deepEqual(server.connectionErrors, [
      'ENHANCE_YOUR_CALM a field block did not arrive in time',
    ])
  })

  test('the headers of a request are released from memory as soon as its response begins', async () => {
    let seen: WeakRef<object> | undefined
    await using server = await startListener(async ({ headers: given }) => {
      seen = new WeakRef(given)
      return { status: 200, headers: {}, body: Buffer.alloc(1_000_000) }
    })
    using client = await RawHttp2.open(server.port)
    await client.send(longHeaders(1, requestFields('GET', '/', field('x', 'y'.repeat(500_000)))))
    assert.ok(await client.until(({ type }) => type === FRAME.DATA))
    // Do not read the rest of the response. The headers of the request must nevertheless be
    // released.
    await until(() => {
      measureFootprint()
      return seen?.deref() === undefined
    }, 'the headers are released')
  })
})
