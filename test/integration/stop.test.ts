/**
 * Tests how a server stops: readiness fails first, running requests get responses, watches end
 * without errors, and then the process exits.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  field,
  frame,
  headersFrame,
  preface,
  RawHttp2,
  requestFields,
  reset,
  SETTING,
  settings,
} from '../support/harness/raw-http2.ts'
import { PATIENCE_MS, until } from '../support/harness/until.ts'
import { adminToken, clients, startTestServer } from './support.ts'

/**
 * Shutdown delay in ms. It is long enough that the test can send all of its requests in this time,
 * even on a slow machine.
 */
const DELAY_MS = 5_000
const CANCEL = 8
/** Maximum time for a response, far less than the default timeout of a minute. */
const ANSWERED_MS_MAX = 30_000

test('during the shutdown delay, readiness fails and writes succeed; then watches end without errors', async () => {
  const server = await startTestServer([`--shutdown-delay-duration=${DELAY_MS}ms`])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  const watched: string[] = []
  const watching = (async () => {
    for await (const line of client.lines({ path: '/api/v1/namespaces?watch=1' }))
      watched.push(line)
  })()
  while (watched.length < 4) await sleep(5)
  const startMs = performance.now()
  const stopped = server[Symbol.asyncDispose]()
  const ready = await client.call({ path: '/readyz?verbose' })
  assert.equal(ready.status, 500)
  assert.match(ready.text, /^\[-\]shutdown failed: reason withheld$/m)
  assert.equal((await client.call({ path: '/livez' })).status, 200)
  const late = await client.call({
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { metadata: { name: 'late' } },
  })
  assert.equal(late.status, 201)
  await watching
  const endedMs = performance.now() - startMs
  assert.ok(endedMs >= DELAY_MS - 50, `watches end after the delay, not after ${endedMs} ms`)
  assert.match(watched.at(-1) ?? '', /^\{"type":"ADDED".*"late"/, 'the last line is complete')
  await stopped
  assert.deepEqual(server.complaints, [])
})

test('a request whose body is incomplete when the server stops gets a response', async () => {
  const server = await startTestServer()
  using client = await RawHttp2.open(Number(new URL(server.url).port))
  const token = field('authorization', `Bearer ${adminToken}`)
  await client.send(
    headersFrame(1, requestFields('POST', '/api/v1/namespaces', token), END_HEADERS),
  )
  await using other = clients['HTTP/2']?.(server.url) ?? assert.fail()
  const isBegun = async (): Promise<boolean> =>
    /^apiserver_current_inflight_requests\{request_kind="mutating"\} 1$/m.test(
      (await other.call({ path: '/metrics' })).text,
    )
  await until(isBegun, 'the request is running')
  const stopped = server[Symbol.asyncDispose]()
  assert.equal(await client.goawayCode(), 0)
  await sleep(500)
  await client.send(frame(FRAME.DATA, END_STREAM, 1, Buffer.from('garbage')))
  const answer = await client.until(
    ({ type, flags }) => type === FRAME.DATA && (flags & END_STREAM) !== 0,
  )
  assert.match(answer?.payload.toString() ?? '', /"code":400/)
  await stopped
})

test('readiness fails immediately and the server stops in time, even if etcd does not respond', async () => {
  const server = await startTestServer([`--shutdown-delay-duration=${DELAY_MS}ms`])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  await client.call({ path: '/readyz' })
  server.pauseEtcd()
  const startMs = performance.now()
  let isStopped = false
  const stopped = server.stop().finally(() => (isStopped = true))
  try {
    assert.equal((await client.call({ path: '/readyz' })).status, 500)
    assert.ok(!isStopped)
    // The server aborts requests that still wait for etcd.
    await stopped.catch((error: unknown) =>
      assert.match(String(error), /did not stop within 5000 ms/),
    )
    assert.ok(performance.now() - startMs < PATIENCE_MS, `${performance.now() - startMs} ms`)
  } finally {
    server.resumeEtcd()
    await Promise.allSettled([server[Symbol.asyncDispose]()])
  }
})

test('a write that exceeds the limit for concurrent writes is rejected with Retry-After', async () => {
  await using server = await startTestServer([
    '--enable-priority-and-fairness=false',
    '--max-mutating-requests-inflight=1',
  ])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  const review = {
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    method: 'POST',
    body: {},
  }
  using slow = await RawHttp2.open(Number(new URL(server.url).port))
  const bob = [
    field('authorization', 'Bearer bob-token'),
    field('content-type', 'application/json'),
  ]
  await slow.send(headersFrame(1, requestFields('POST', review.path, ...bob), END_HEADERS))
  let refused = await client.call({ ...review, token: 'bob-token' })
  await until(async () => {
    if (refused.status !== 429) refused = await client.call({ ...review, token: 'bob-token' })
    return refused.status === 429
  }, 'the first request is running')
  assert.equal(refused.text, 'Too many requests, please try again later.\n')
  assert.equal(refused.headers['retry-after'], '1')
  assert.match(refused.headers['content-type'] ?? '', /^text\/plain/)
  assert.equal((await client.call(review)).status, 201, 'system:masters are exempt')
  assert.equal(
    (await client.call({ path: '/version', token: 'bob-token' })).status,
    200,
    'reads have their own limit',
  )
  await slow.send(frame(FRAME.DATA, END_STREAM, 1, Buffer.from('{}')))
  assert.ok(
    await slow.until(({ type, flags }) => type === FRAME.DATA && (flags & END_STREAM) !== 0),
  )
  assert.equal((await client.call({ ...review, token: 'bob-token' })).status, 201)
})

test('a long response occupies a slot until its client has read it or has disconnected', async () => {
  await using server = await startTestServer([
    '--enable-priority-and-fairness=false',
    '--max-requests-inflight=1',
  ])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  const asBob = field('authorization', 'Bearer bob-token')
  const statusOf = async (path: string): Promise<number> =>
    (await client.call({ path, token: 'bob-token' })).status
  using slow = await RawHttp2.open(
    Number(new URL(server.url).port),
    Buffer.concat([preface, settings([SETTING.INITIAL_WINDOW_SIZE, 0])]),
  )
  await slow.send(headersFrame(1, requestFields('GET', '/openapi/v2', asBob)))
  assert.ok(await slow.until(({ type, stream }) => type === FRAME.HEADERS && stream === 1))
  assert.equal(await statusOf('/version'), 429, 'the response waits for its client')
  await slow.send(reset(1, CANCEL))
  while ((await statusOf('/version')) === 429) await sleep(5)
  await slow.send(headersFrame(3, requestFields('GET', '/version', asBob)))
  assert.ok(await slow.until(({ type, stream }) => type === FRAME.HEADERS && stream === 3))
  assert.equal(await statusOf('/version'), 200, 'a short response waits without a slot')
  for (let count = 0; count < 3; count++) assert.equal(await statusOf('/openapi/v2'), 200)
})

test('a long response counts as in flight until its client has read it or has disconnected', async () => {
  await using server = await startTestServer()
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  const open = async (): Promise<number> => {
    const { text } = await client.call({ path: '/metrics' })
    const shown = /^apiserver_current_inflight_requests\{request_kind="readOnly"\} (\d+)$/m.exec(
      text,
    )?.[1]
    return Number(shown) - 1 // The request for the metrics does not count.
  }
  using slow = await RawHttp2.open(
    Number(new URL(server.url).port),
    Buffer.concat([preface, settings([SETTING.INITIAL_WINDOW_SIZE, 0])]),
  )
  const asAdmin = field('authorization', `Bearer ${adminToken}`)
  await slow.send(headersFrame(1, requestFields('GET', '/openapi/v2', asAdmin)))
  assert.ok(await slow.until(({ type, stream }) => type === FRAME.HEADERS && stream === 1))
  // Wait until the gauge is 1. It shows the maximum of the last second, and the server had more
  // requests during its start.
  while ((await open()) !== 1) await sleep(5)
  await slow.send(reset(1, CANCEL))
  while ((await open()) !== 0) await sleep(5)
  assert.equal((await client.call({ path: '/openapi/v2' })).status, 200)
  while ((await open()) !== 0) await sleep(5)
})

test('a watch is counted as long as it is open', async () => {
  await using server = await startTestServer()
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  const open = async (): Promise<string | undefined> => {
    const { text } = await client.call({ path: '/metrics' })
    return /^apiserver_longrunning_requests\{.*resource="namespaces".*\} (\d+)$/m.exec(text)?.[1]
  }
  const lines = client.lines({ path: '/api/v1/namespaces?watch=1&timeoutSeconds=1' })
  await lines.next()
  assert.equal(await open(), '1')
  for await (const _ of lines);
  assert.equal(await open(), '0')
  const left = client.lines({ path: '/api/v1/namespaces?watch=1' })
  await left.next()
  assert.equal(await open(), '1')
  await left.return()
  while ((await open()) !== '0') await sleep(10)
  const { text } = await client.call({ path: '/metrics' })
  assert.match(text, /^apiserver_watch_events_total\{group="",kind="Namespace",version="v1"\} 8$/m)
})

test('a request takes no longer than its timeout, even if etcd does not respond', async () => {
  await using server = await startTestServer()
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  await client.call({ path: '/api/v1/namespaces/default' })
  server.pauseEtcd()
  try {
    for (const call of [
      { path: '/api/v1/namespaces/default?timeout=300ms' },
      {
        path: '/api/v1/namespaces?timeout=300ms',
        method: 'POST',
        body: { metadata: { name: 'late' } },
      },
    ]) {
      const startMs = performance.now()
      const answer = await client.call(call)
      assert.ok(performance.now() - startMs < ANSWERED_MS_MAX, `${performance.now() - startMs} ms`)
      assert.equal(answer.status, 504, answer.text)
    }
    assert.match(
      (await client.call({ path: '/version?timeout=soon' })).text,
      /time: invalid duration \\"soon\\"/,
    )
  } finally {
    server.resumeEtcd()
  }
})
