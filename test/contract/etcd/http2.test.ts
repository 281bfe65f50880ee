/**
 * Tests HTTP/2 behavior of a peer that a real etcd shows only rarely. A small server simulates the
 * peer.
 */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2'
import { test } from 'node:test'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { WireWriter } from '../../../src/net/grpc/codec/writer.ts'
import type { GrpcError } from '../../../src/net/grpc/errors.ts'
import { failure, until } from './wait.ts'

const key = Buffer.from('key')
const value = Buffer.from('value')

type Peer = AsyncDisposable & {
  readonly url: string
  readonly streams: () => number
  readonly sessions: Set<ServerHttp2Session>
}

type OnStream = (
  stream: ServerHttp2Stream,
  count: number,
  headers: Readonly<Record<string, unknown>>,
) => void

async function startPeer(onStream: OnStream, settings: Settings = {}): Promise<Peer> {
  const server: Http2Server = createServer({ settings })
  const sessions = new Set<ServerHttp2Session>()
  let streams = 0
  server.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => undefined)
    session.on('close', () => sessions.delete(session))
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    onStream(stream, ++streams, headers)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    streams: () => streams,
    sessions,
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy()
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}

/** Encodes a valid response to a put that contains only a header with this revision. */
function putAnswer(revision: bigint): Buffer {
  const writer = new WireWriter(0)
  const mark = writer.length
  writer.id(3, revision)
  writer.nested(1, mark)
  return writer.frame()
}

function answer(
  stream: ServerHttp2Stream,
  frame: Buffer,
  trailers: Readonly<Record<string, string>> = {},
): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', ...trailers }))
  stream.end(frame)
}

test('a call sends the gRPC headers, its path and its timeout', async () => {
  let seen: Readonly<Record<string, unknown>> = {}
  await using peer = await startPeer((stream, _count, headers) => {
    seen = headers
    answer(stream, putAnswer(7n))
  })
  await using client = new EtcdClient({ endpoints: [peer.url] })
  equal((await client.kv.put({ key, value }, { timeoutMs: 1234 })).revision, 7)
  deepEqual(
    [':method', ':path', 'te', 'content-type', 'hasleader'].map((name) => seen[name]),
    ['POST', '/etcdserverpb.KV/Put', 'trailers', 'application/grpc', 'true'],
  )
  const [, millis = ''] = /^(\d+)m$/.exec(String(seen['grpc-timeout'])) ?? []
  ok(Number(millis) > 0 && Number(millis) <= 1234)
})

test('a connection that has used all stream IDs is replaced by a new connection', async () => {
  await using peer = await startPeer((stream, count) => answer(stream, putAnswer(BigInt(count))))
  await using client = new EtcdClient({ endpoints: [peer.url], firstStreamId: 2 ** 31 - 5 })
  const revisions: number[] = []
  for (let call = 0; call < 7; call++)
    revisions.push((await client.kv.put({ key, value })).revision)
  deepEqual(revisions, [1, 2, 3, 4, 5, 6, 7])
  await Promise.all(Array.from({ length: 5 }, () => client.kv.put({ key, value })))
  equal(peer.streams(), 12)
  await until(() => peer.sessions.size <= 1, 'spent connections are closed')
})

test('a write on a refused stream was not processed and is retried', async () => {
  await using peer = await startPeer((stream, count) => {
    if (count === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM)
    else answer(stream, putAnswer(7n))
  })
  await using client = new EtcdClient({ endpoints: [peer.url] })
  equal((await client.kv.put({ key, value })).revision, 7)
  equal(peer.streams(), 2)
})

test('a write on a reset stream might have been processed and is not retried', async () => {
  for (const code of [constants.NGHTTP2_INTERNAL_ERROR, constants.NGHTTP2_CANCEL]) {
    await using peer = await startPeer((stream) => stream.close(code))
    await using client = new EtcdClient({ endpoints: [peer.url] })
    const error = await failure(client.kv.put({ key, value }))
    deepEqual([error.ambiguous, peer.streams()], [true, 1])
  }
})

test('a write on a stream above the last ID of a GOAWAY is retried on a new connection', async () => {
  await using peer = await startPeer((stream, count) => {
    // The GOAWAY names stream 1 as the last one. The second stream has the ID 3, so it was not
    // processed.
    if (count === 2) stream.session?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 1)
    else answer(stream, putAnswer(BigInt(count)))
  })
  await using client = new EtcdClient({ endpoints: [peer.url] })
  equal((await client.kv.put({ key, value })).revision, 1)
  equal((await client.kv.put({ key, value })).revision, 3)
  equal(peer.streams(), 3)
})

test('after a GOAWAY, running calls finish, new calls use another endpoint, and watch streams end', async () => {
  const held: ServerHttp2Stream[] = []
  await using old = await startPeer((stream, _count, headers) => {
    if (String(headers[':path']).endsWith('Watch')) stream.respond({ ':status': 200 })
    else held.push(stream)
  })
  await using next = await startPeer((stream) => answer(stream, putAnswer(8n)))
  await using client = new EtcdClient({ endpoints: [old.url, next.url] })
  const ends: (GrpcError | undefined)[] = []
  client.watch.open({ onEnd: (error) => ends.push(error) })
  const running = client.kv.put({ key, value })
  await until(() => held.length === 1, 'the call has arrived')
  for (const session of old.sessions) session.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1)
  await until(() => ends.length === 1, 'the end of the watch')
  equal(ends[0]?.code, 'Unavailable')
  equal((await client.kv.put({ key, value })).revision, 8)
  for (const stream of held) answer(stream, putAnswer(7n))
  equal((await running).revision, 7)
})

test("calls beyond the peer's limit for concurrent streams wait", async () => {
  let open = 0
  let mostOpen = 0
  await using peer = await startPeer(
    (stream) => {
      open++
      mostOpen = Math.max(mostOpen, open)
      setTimeout(() => {
        open--
        answer(stream, putAnswer(7n))
      }, 5)
    },
    { maxConcurrentStreams: 3 },
  )
  await using client = new EtcdClient({ endpoints: [peer.url] })
  await Promise.all(Array.from({ length: 30 }, () => client.kv.put({ key, value })))
  deepEqual([mostOpen, peer.streams()], [3, 30])
})

test('a call that waits for a stream fails at its deadline and is removed from the queue', async () => {
  const held: ServerHttp2Stream[] = []
  await using peer = await startPeer((stream) => held.push(stream), { maxConcurrentStreams: 1 })
  await using client = new EtcdClient({ endpoints: [peer.url] })
  const first = client.kv.put({ key, value })
  await until(() => held.length === 1, 'the first call')
  const error = await failure(client.kv.put({ key, value }, { timeoutMs: 50 }))
  deepEqual([error.code, error.ambiguous], ['DeadlineExceeded', false])
  const third = client.kv.put({ key, value })
  for (const stream of held) answer(stream, putAnswer(7n))
  await first
  await until(() => held.length === 2, 'the third call')
  for (const stream of held.slice(1)) answer(stream, putAnswer(8n))
  equal((await third).revision, 8)
  equal(peer.streams(), 2)
})

test('a revision above 2^53 is rejected with an error', async () => {
  await using peer = await startPeer((stream) => answer(stream, putAnswer(2n ** 53n + 1n)))
  await using client = new EtcdClient({ endpoints: [peer.url] })
  const error = await failure(client.kv.put({ key, value }))
  equal(error.code, 'OutOfRange')
  ok(error.message.includes('9007199254740993') && error.message.includes('2^53'))
})

test('responses that are incomplete or not gRPC are errors', async () => {
  const cases: readonly (readonly [
    string,
    (stream: ServerHttp2Stream) => void,
    GrpcError['code'],
  ])[] = [
    [
      'HTTP 404',
      (stream) => stream.respond({ ':status': 404 }, { endStream: true }),
      'Unimplemented',
    ],
    ['no message', (stream) => answer(stream, Buffer.alloc(0)), 'Internal'],
    ['cut message', (stream) => answer(stream, putAnswer(300n).subarray(0, -1)), 'Internal'],
    ['compressed', (stream) => answer(stream, Buffer.from([1, 0, 0, 0, 0])), 'Internal'],
    [
      'too long',
      (stream) => answer(stream, Buffer.from([0, 0xff, 0xff, 0xff, 0xff])),
      'ResourceExhausted',
    ],
    ['not protobuf', (stream) => answer(stream, Buffer.from([0, 0, 0, 0, 1, 0xff])), 'Internal'],
    [
      'no status',
      (stream) => {
        stream.respond({ ':status': 200 })
        stream.end(putAnswer(7n))
      },
      'Unavailable',
    ],
    [
      'strange status',
      (stream) => answer(stream, Buffer.alloc(0), { 'grpc-status': 'x' }),
      'Unknown',
    ],
  ]
  for (const [name, act, code] of cases) {
    await using peer = await startPeer(act)
    await using client = new EtcdClient({ endpoints: [peer.url] })
    const error = await failure(client.kv.put({ key, value }))
    deepEqual([name, error.code, error.ambiguous], [name, code, true])
  }
})

test('gRPC error messages are percent-decoded', async () => {
  await using peer = await startPeer((stream) =>
    stream.respond(
      { ':status': 200, 'grpc-status': '9', 'grpc-message': 'caf%C3%A9 100%25' },
      { endStream: true },
    ),
  )
  await using client = new EtcdClient({ endpoints: [peer.url] })
  const error = await failure(client.kv.put({ key, value }))
  deepEqual(
    [error.code, error.message, error.ambiguous],
    ['FailedPrecondition', 'café 100%', false],
  )
})

test('a response that arrives byte by byte is decoded', async () => {
  await using peer = await startPeer((stream) => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    const frame = putAnswer(123_456n)
    let at = 0
    const next = (): void => {
      if (at === frame.length) stream.end()
      else stream.write(frame.subarray(at, ++at), next)
    }
    next()
  })
  await using client = new EtcdClient({ endpoints: [peer.url] })
  equal((await client.kv.put({ key, value })).revision, 123_456)
})

test('canceling a call resets its stream', async () => {
  let resetCode: number | undefined
  const abort = new AbortController()
  await using peer = await startPeer((stream) => {
    stream.on('close', () => {
      resetCode = stream.rstCode
    })
    abort.abort()
  })
  await using client = new EtcdClient({ endpoints: [peer.url] })
  const error = await failure(client.kv.put({ key, value }, { signal: abort.signal }))
  deepEqual([error.code, error.ambiguous], ['Cancelled', true])
  await until(() => resetCode !== undefined, 'the reset')
  equal(resetCode, constants.NGHTTP2_CANCEL)
})

test('if a member has no leader, the client uses another member', async () => {
  await using leaderless = await startPeer((stream) =>
    stream.respond(
      { ':status': 200, 'grpc-status': '14', 'grpc-message': 'etcdserver: no leader' },
      { endStream: true },
    ),
  )
  await using healthy = await startPeer((stream) => answer(stream, putAnswer(7n)))
  await using client = new EtcdClient({ endpoints: [leaderless.url, healthy.url] })
  equal((await client.kv.put({ key, value })).revision, 7)
  equal((await client.kv.put({ key, value })).revision, 7)
  deepEqual([leaderless.streams(), healthy.streams()], [1, 2])
})
