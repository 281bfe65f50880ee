/**
 * Tests that the memory that clients can occupy is limited. Requests that exceed the limit are
 * rejected, and resources that exceed it are read from the database.
 */
import assert from 'node:assert/strict'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:tls'
import { test } from 'node:test'
import { ApiError } from '../../src/api/errors.ts'
import type { Handler } from '../../src/api/request.ts'
import { Listener } from '../../src/net/http/listener.ts'
import { ByteBudget, unknownHolder } from '../../src/lib/bytes/byte-budget.ts'
import { silent } from '../../src/lib/telemetry/log.ts'
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
  SETTING,
  settings,
  uint32,
} from '../support/harness/raw-http2.ts'
import { until } from '../support/harness/until.ts'
import { adminToken, type Client, clients, startTestServer } from './support.ts'

const CANCEL = 8
const maps = '/api/v1/namespaces/default/configmaps'

async function metric(client: Client, name: string): Promise<number> {
  const { text } = await client.call({ path: '/metrics' })
  const line = text.split('\n').find((one) => one.startsWith(name))
  return Number(line?.slice(line.lastIndexOf(' ')) ?? Number.NaN)
}

/**
 * Starts a request over HTTP/1.1 that sends only a part of the announced bytes. Returns a function
 * that aborts it.
 */
function hang(
  url: string,
  token: string,
  { said, sent }: { readonly said: number; readonly sent: number },
): () => void {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': `${said}`,
  }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const request = httpsRequest(new URL(path, url), {
    method: 'POST',
    headers,
    rejectUnauthorized: false,
  })
  request.on('error', () => undefined)
  request.on('response', (response) => response.resume())
  if (sent > 0) request.write(Buffer.alloc(sent, ' '))
  else request.flushHeaders()
  return () => request.destroy()
}

const used = (client: Client): Promise<number> =>
  metric(client, 'keelson_request_memory_bytes{state="used"}')
const largeBody = (name: string) => ({ metadata: { name }, data: { x: 'x'.repeat(900_000) } })

test('request bodies that exceed the memory budget are rejected before they are read', async () => {
  await using server = await startTestServer(['--request-memory-max=16Mi'])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  const end = hang(server.url, adminToken, { said: 1_200_000, sent: 1_000_000 })
  await until(
    async () => (await used(client)) >= 9_500_000,
    'memory for the first body is reserved',
  )
  const small = await client.call({
    method: 'POST',
    path: maps,
    body: { metadata: { name: 'small' } },
  })
  assert.equal(small.status, 201, 'a small body still fits')
  const refused = await client.call({ method: 'POST', path: maps, body: largeBody('large') })
  assert.equal(refused.status, 429, refused.text)
  assert.equal(refused.headers['retry-after'], '1')
  assert.equal(JSON.parse(refused.text).reason, 'TooManyRequests')
  end()
  await until(async () => (await used(client)) < 1 << 20, 'the memory is released')
  assert.equal(
    (await client.call({ method: 'POST', path: maps, body: largeBody('large') })).status,
    201,
  )
})

test('a client that announces large bodies but sends nothing does not reduce the memory for other clients', async () => {
  await using server = await startTestServer(['--request-memory-max=64Mi'])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  const ends = Array.from({ length: 30 }, () =>
    hang(server.url, 'bob-token', { said: 3_000_000, sent: 0 }),
  )
  const executing = 'apiserver_flowcontrol_current_executing_requests{flow_schema="global-default"'
  // Three requests must have started. If they reserved memory for their announced bodies, the
  // budget would be exhausted. More requests cannot start, because each of them takes ten seats of
  // its priority level.
  await until(async () => (await metric(client, executing)) >= 3, 'several requests have started')
  assert.equal(
    (await client.call({ method: 'POST', path: maps, body: largeBody('large') })).status,
    201,
  )
  assert.equal((await client.call({ path: '/openapi/v2' })).status, 200)
  for (const end of ends) end()
})

test('a client that sends many bytes can use a quarter of the request memory, but not more', async () => {
  await using server = await startTestServer(['--request-memory-max=64Mi'])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  const ends = Array.from({ length: 30 }, () =>
    hang(server.url, 'bob-token', { said: 1_500_000, sent: 1_000_000 }),
  )
  await until(
    async () => (await metric(client, 'keelson_request_memory_refused_total')) > 0,
    'the client has used its share',
  )
  assert.ok((await used(client)) <= (64 << 20) / 4 + (10 << 20), `${await used(client)}`)
  assert.equal(
    (await client.call({ method: 'POST', path: maps, body: largeBody('large') })).status,
    201,
  )
  for (const end of ends) end()
})

test('a write reserves memory for the stored object that it changes', async () => {
  await using server = await startTestServer(['--request-memory-max=16Mi'])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  for (const name of ['large', 'small']) {
    const data = { x: 'x'.repeat(name === 'large' ? 800_000 : 1_000) }
    await client.call({ method: 'POST', path: maps, body: { metadata: { name }, data } })
  }
  const patch = async (name: string, query = ''): Promise<number> => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    const body = { metadata: { labels: { a: `${performance.now()}` } } }
    return (await client.call({ method: 'PATCH', path: `${maps}/${name}${query}`, headers, body }))
      .status
  }
  const end = hang(server.url, adminToken, { said: 1_200_000, sent: 1_000_000 })
  await until(
    async () => (await used(client)) >= 9_500_000,
    'memory for the first body is reserved',
  )
  assert.deepEqual(
    [await patch('large'), await patch('large', '?dryRun=All'), await patch('small')],
    [429, 429, 200],
  )
  assert.equal((await client.call({ method: 'DELETE', path: `${maps}/large` })).status, 429)
  assert.equal(
    (await client.call({ method: 'DELETE', path: maps })).status,
    200,
    'the objects of a collection are deleted one after the other',
  )
  end()
})

test('a body without a content-length reserves memory while it arrives', async () => {
  await using server = await startTestServer(['--request-memory-max=16Mi'])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  using raw = await RawHttp2.open(Number(new URL(server.url).port))
  const fields = [
    field('authorization', `Bearer ${adminToken}`),
    field('content-type', 'application/json'),
  ]
  await raw.send(headersFrame(1, requestFields('POST', maps, ...fields), END_HEADERS))
  // The bytes fit into the initial window of the stream. The server reserves ten times as much
  // memory for them.
  await raw.send(frame(FRAME.DATA, 0, 1, Buffer.alloc(16_000, ' ')))
  await until(
    async () => (await metric(client, 'keelson_request_memory_bytes{state="used"}')) >= 160_000,
    'memory for the received bytes is reserved',
  )
  await raw.send(frame(FRAME.DATA, END_STREAM, 1, Buffer.from('{"metadata":{"name":"unsaid"}}')))
  assert.ok(await raw.until(({ type, stream }) => type === FRAME.HEADERS && stream === 1))
  await until(
    async () => (await metric(client, 'keelson_request_memory_bytes{state="used"}')) < 160_000,
    'the memory is released',
  )
})

test('a resource that does not fit into the cache is read from the database', async () => {
  await using server = await startTestServer([
    '--cache-memory-max=16Mi',
    '--request-memory-max=32Mi',
  ])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  const data = { text: 'x'.repeat(700_000) }
  for (let at = 0; at < 20; at++) {
    const { status, text } = await client.call({
      method: 'POST',
      path: maps,
      body: { metadata: { name: `large-${at}` }, data },
    })
    assert.equal(status, 201, text)
  }
  const { status, text } = await client.call({ path: maps })
  assert.equal(status, 200)
  assert.equal(JSON.parse(text).items.length, 20)
  assert.ok((await metric(client, 'keelson_cache_resources_left_out')) >= 1)
  assert.ok((await metric(client, 'keelson_cache_store_reads_total')) >= 1)
  assert.ok((await metric(client, 'keelson_cache_bytes{state="used"}')) < 16 << 20)
  const one = await client.call({ path: `${maps}/large-7` })
  assert.equal(JSON.parse(one.text).metadata.name, 'large-7')
  const watched = await client.call({ path: `${maps}?watch=1&resourceVersion=0&timeoutSeconds=1` })
  assert.match(watched.text, /--cache-memory-max.*"code":429/)
  assert.equal(
    (await client.call({ path: '/api/v1/namespaces' })).status,
    200,
    'other resources are in memory',
  )
  // A list that needs more than a quarter of the memory for all requests is rejected before it is
  // loaded. Pages of the list are served.
  const binding = {
    metadata: { name: 'bob' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
  }
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  assert.equal((await client.call({ method: 'POST', path: bindings, body: binding })).status, 201)
  const token = 'bob-token'
  await until(
    async () => (await client.call({ path: `${maps}/large-7`, token })).status === 200,
    'the binding applies',
  )
  const whole = await client.call({ path: maps, token })
  assert.equal(whole.status, 429, whole.text.slice(0, 500))
  assert.match(whole.text, /--request-memory-max.*set a smaller limit/)
  // A second request immediately afterwards must not read the database again. Otherwise clients
  // that retry without a delay would cause many reads.
  const fetched = 'apiserver_storage_list_fetched_objects_total{resource="configmaps"}'
  const fetchedBefore = await metric(client, fetched)
  assert.ok(fetchedBefore > 0)
  assert.equal((await client.call({ path: maps, token })).status, 429)
  assert.equal(await metric(client, fetched), fetchedBefore)
  const page = await client.call({ path: `${maps}?limit=5`, token })
  assert.equal(JSON.parse(page.text).items?.length, 5, page.text.slice(0, 500))
  await until(async () => (await used(client)) < 1 << 20, 'the memory is released')
  // Let lists time out after they have started to read. They must release their memory.
  for (const timeout of ['20ms', '40ms', '60ms', '90ms', '120ms', '200ms']) {
    await Promise.all([1, 2, 3].map(() => client.call({ path: `${maps}?timeout=${timeout}` })))
  }
  await until(
    async () => (await used(client)) < 1 << 20,
    'no memory is held for requests that have ended',
  )
})

test('the number of connections per client is limited', async () => {
  await using listener = new Listener({
    handler: async () => ({ status: 200, headers: {}, body: Buffer.from('ok') }),
    tls: createSelfSigned('ceilings', ['127.0.0.1'], Date.now()),
    limits: { connectionsPerClientMax: 3 },
    log: silent,
  })
  await listener.listen(0, '127.0.0.1')
  const open = async (): Promise<boolean> => {
    const socket = connect({
      port: listener.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
    })
    sockets.push(socket)
    socket.on('error', () => undefined)
    const ended = new Promise((resolve) => socket.once('close', resolve))
    await Promise.race([new Promise((resolve) => socket.once('secureConnect', resolve)), ended])
    return !socket.destroyed
  }
  const sockets: ReturnType<typeof connect>[] = []
  assert.deepEqual(
    [await open(), await open(), await open(), await open()],
    [true, true, true, false],
  )
  sockets[0]?.destroy()
  await until(async () => open(), 'a new connection is accepted after another one is closed')
  for (const socket of sockets) socket.destroy()
})

/** Starts a listener that reserves memory from `budget` for responses and bodies. */
async function listening(budget: ByteBudget, handler: Handler): Promise<Listener> {
  const certificate = createSelfSigned('ceilings', ['127.0.0.1'], Date.now())
  const listener = new Listener({ handler, tls: certificate, budget, log: silent })
  await listener.listen(0, '127.0.0.1')
  return listener
}

test('when the memory budget is exceeded, responses to writes are sent, and responses to reads are rejected', async () => {
  const budget = new ByteBudget(1 << 20)
  await using listener = await listening(budget, async () => {
    budget.takeAnyway(1 << 20, unknownHolder)
    return { status: 200, headers: {}, body: Buffer.alloc(100_000) }
  })
  using raw = await RawHttp2.open(listener.port)
  await raw.send(
    headersFrame(1, requestFields('GET', '/')),
    headersFrame(3, requestFields('PATCH', '/')),
  )
  for (const [stream, bytes] of [
    [1, 43],
    // Number of bytes that remain in the connection's window.
    [3, 65_535 - 43],
  ]) {
    const received = (): number =>
      raw.received.reduce(
        (sum, { type, stream: id, payload }) =>
          sum + (type === 0 && id === stream ? payload.length : 0),
        0,
      )
    await until(() => received() === bytes, `the response to ${stream}`)
  }
})

test('short responses reserve memory until the client has read them', async () => {
  const budget = new ByteBudget(8 << 20)
  const body = Buffer.alloc(50_000)
  await using listener = await listening(budget, async () => ({ status: 200, headers: {}, body }))
  const closed = Buffer.concat([preface, settings([SETTING.INITIAL_WINDOW_SIZE, 0])])
  using raw = await RawHttp2.open(listener.port, closed)
  const ids = Array.from({ length: 100 }, (_, at) => 1 + 2 * at)
  await raw.send(...ids.map((id) => headersFrame(id, requestFields('GET', '/'))))
  assert.equal(
    await raw.resetCode(ids.at(-1) ?? 0),
    CANCEL,
    'not all responses fit into the budget',
  )
  // Memory is reserved for at most a quarter of the budget, which is the maximum for a single
  // client.
  assert.ok(budget.used > 1 << 20 && budget.used <= 2 << 20, `${budget.used}`)
  await raw.send(headersFrame(1001, requestFields('POST', '/')))
  assert.ok(
    await raw.until(({ type, stream }) => type === FRAME.HEADERS && stream === 1001),
    'the response to the write is sent',
  )
  await raw.send(...[1, 3, 1001].map((id) => frame(FRAME.WINDOW_UPDATE, 0, id, uint32(100_000))))
  await raw.send(frame(FRAME.WINDOW_UPDATE, 0, 0, uint32(10_000_000)))
  assert.ok(
    await raw.until(
      ({ stream, flags, type }) => type === FRAME.DATA && stream === 1001 && flags === END_STREAM,
    ),
  )
  raw.socket.destroy()
  await until(() => budget.used === 0, 'the memory is released')
})

test('request bodies reserve memory as soon as they arrive, even before the handler reads them', async () => {
  const budget = new ByteBudget(8 << 20)
  const { promise: seated, resolve: seat } = Promise.withResolvers<void>()
  const statuses: (number | undefined)[] = []
  await using listener = await listening(budget, async (request) => {
    await seated
    const failed: unknown = await request.body().then(
      () => undefined,
      (error: unknown) => error,
    )
    statuses.push(failed instanceof ApiError ? failed.code : 200)
    return { status: 200, headers: {}, body: Buffer.alloc(0) }
  })
  using raw = await RawHttp2.open(listener.port)
  const ids = Array.from({ length: 50 }, (_, at) => 1 + 2 * at)
  for (const id of ids) await raw.send(headersFrame(id, requestFields('POST', '/'), END_HEADERS))
  await until(() => listener.openRequests === ids.length, 'all requests have started')
  for (const id of ids) {
    for (let at = 0; at < 10; at++)
      await raw.send(frame(FRAME.DATA, 0, id, Buffer.alloc(16_000, ' ')))
  }
  await until(() => budget.refused > 0, 'not all bodies fit into the budget')
  assert.ok(budget.used > 1 << 20 && budget.used <= 2 << 20, `${budget.used}`)
  for (const id of ids) await raw.send(frame(FRAME.DATA, END_STREAM, id))
  seat()
  await until(() => statuses.length === ids.length, 'all requests have a response')
  assert.deepEqual(new Set(statuses), new Set([200, 429]))
  await until(() => budget.used === 0, 'the memory is released')
})

test('a request body that exceeds the memory budget is not forwarded as an empty body', async () => {
  const budget = new ByteBudget(1 << 20)
  const { promise: seated, resolve: seat } = Promise.withResolvers<void>()
  const seen: unknown[] = []
  await using listener = await listening(budget, async (request) => {
    await seated
    const failed: unknown = await request.pipeBody(() => undefined).catch((error: unknown) => error)
    seen.push(request.hasBody, failed instanceof ApiError ? failed.code : failed)
    return { status: 200, headers: {}, body: Buffer.alloc(0) }
  })
  budget.takeAnyway(budget.max, { name: 'somebody else', isExempt: false })
  using raw = await RawHttp2.open(listener.port)
  await raw.send(headersFrame(1, requestFields('POST', '/'), END_HEADERS))
  await until(() => listener.openRequests === 1, 'the request has started')
  for (let at = 0; at < 2; at++) await raw.send(frame(FRAME.DATA, 0, 1, Buffer.alloc(16_000, ' ')))
  await raw.send(frame(FRAME.DATA, END_STREAM, 1))
  await until(() => budget.refused > 0, 'the body is refused')
  seat()
  await until(() => seen.length > 0, 'the request has a response')
  assert.deepEqual(seen, [true, 429])
})

test('the request headers that a watch retains count toward the memory limit', async () => {
  const budget = new ByteBudget(64 << 20)
  const frames = { take: () => [], onReady: () => undefined, close: () => undefined }
  await using listener = await listening(budget, async ({ headers }) => ({
    status: 200,
    headers: { 'audit-id': headers['audit-id'] ?? '' },
    frames,
  }))
  using raw = await RawHttp2.open(listener.port)
  const long = 'x'.repeat(500_000)
  const heads = [
    requestFields('GET', `/namespaces/${long}/pods`),
    requestFields('GET', `/pods?fieldSelector=${long}`),
    requestFields('GET', '/pods', field('audit-id', long)),
    requestFields('GET', '/pods', field('user-agent', long)),
  ]
  for (const [at, head] of heads.entries()) {
    const before = budget.used
    await raw.send(longHeaders(1 + 2 * at, head))
    assert.ok(
      await raw.until(({ type, stream }) => type === FRAME.HEADERS && stream === 1 + 2 * at),
    )
    assert.ok(budget.used - before > 500_000, `${budget.used - before}`)
  }
  raw.socket.destroy()
  await until(() => budget.used === 0, 'the memory is released')
})
