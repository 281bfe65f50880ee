/**
 * Tests our HTTP/2 server with other implementations: h2spec, which checks the rules of the
 * specification, and Node's client with random windows, bodies and streams.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { ApiError } from '../../src/api/errors.ts'
import type { ApiResponse, Handler } from '../../src/api/request.ts'
import { Listener } from '../../src/net/http/listener.ts'
import { createSelfSigned } from '../../src/lib/x509/certificates.ts'
import { toolPath } from '../support/harness/etcd.ts'

const certificate = createSelfSigned('http2', ['127.0.0.1'], Date.now())

const log = (level: string, message: string): void => assert.notEqual(level, 'error', message)

async function listen(handler: Handler): Promise<Listener> {
  const listener = new Listener({ tls: certificate, handler, log, limits: { resetsBurst: 10_000 } })
  await listener.listen(0, '127.0.0.1')
  return listener
}

test('h2spec reports no errors', { timeout: 120_000 }, async () => {
  // Delay the response, because some requests of h2spec violate a rule only after their headers.
  await using listener = await listen(async (request) => {
    await request.body().catch((error: unknown) => assert.ok(error instanceof ApiError))
    await sleep(30)
    return { status: 200, headers: { 'content-type': 'text/plain' }, body: Buffer.from('ok') }
  })
  const args = [
    '--host',
    '127.0.0.1',
    '--port',
    `${listener.port}`,
    '--tls',
    '--insecure',
    '--timeout',
    '5',
  ]
  const output = await new Promise<string>((resolve) => {
    execFile(toolPath('h2spec'), args, { maxBuffer: 1 << 24 }, (_, out, err) => resolve(out + err))
  })
  assert.match(output, /\b145 tests, 14[45] passed, [01] skipped, 0 failed/, output.slice(-5000))
})

/**
 * A handler whose response depends only on the path, which contains the kind, the length and the
 * chunk size of the response.
 */
const answer: Handler = async (request): Promise<ApiResponse> => {
  const [, kind = '', bytes = '0', cut = '1'] = request.path.split('/')
  const headers = { 'content-type': 'text/plain', 'x-sent': digestOf(await request.body()) }
  const whole = bytesOf(Number(bytes))
  const parts: Buffer[] = []
  for (let at = 0; at < whole.length; at += Number(cut))
    parts.push(whole.subarray(at, at + Number(cut)))
  if (kind === 'body') return { status: 200, headers, body: parts }
  if (kind === 'chunks')
    return {
      status: 200,
      headers,
      body: { length: whole.length, chunks: parts.map((part) => [part]) },
    }
  const stream = (async function* () {
    for (const part of parts) {
      if (part.length % 3 === 0) await sleep(1)
      yield [part]
    }
  })()
  return { status: 200, headers, stream }
}

const bytesOf = (length: number): Buffer =>
  Buffer.alloc(length, 'the quick brown fox jumps over the lazy dog. ')
const digestOf = (bytes: Buffer): string => createHash('sha1').update(bytes).digest('hex')

async function ask(
  session: ClientHttp2Session,
  { kind, bytes, cut, sent }: Question,
): Promise<void> {
  const headers = { ':method': sent === 0 ? 'GET' : 'POST', ':path': `/${kind}/${bytes}/${cut}` }
  const stream = session.request(headers, { endStream: sent === 0 })
  if (sent > 0) stream.end(bytesOf(sent))
  const parts: Buffer[] = []
  stream.on('data', (part: Buffer) => parts.push(part))
  const [[head]] = await Promise.all([once(stream, 'response'), once(stream, 'end')])
  assert.equal(head[':status'], 200)
  assert.equal(head['x-sent'], digestOf(bytesOf(sent)))
  assert.ok(Buffer.concat(parts).equals(bytesOf(bytes)), `${kind} of ${bytes} bytes cut by ${cut}`)
}

type Question = {
  readonly kind: string
  readonly bytes: number
  readonly cut: number
  /** Length of the request body. */
  readonly sent: number
}

const sizes = fc.oneof(
  fc.nat(100),
  fc.nat(300_000),
  fc.constantFrom(16_383, 16_384, 16_385, 65_535, 65_536, 131_072, 1_000_000),
)
const question: fc.Arbitrary<Question> = fc.record({
  kind: fc.constantFrom('body', 'chunks', 'stream'),
  bytes: sizes,
  cut: fc.oneof(fc.integer({ min: 500, max: 100_000 }), fc.constantFrom(16_384, 65_536)),
  sent: fc.oneof(fc.constant(0), sizes),
})
const connection = fc.record({
  initialWindowSize: fc.oneof(fc.integer({ min: 1000, max: 100_000 }), fc.constant(10_000_000)),
  questions: fc.array(question, { minLength: 1, maxLength: 25 }),
})

test("Node's client receives every byte, regardless of its window sizes", {
  timeout: 300_000,
}, async () => {
  await using listener = await listen(answer)
  await fc.assert(
    fc.asyncProperty(connection, async ({ initialWindowSize, questions }) => {
      const settings = { initialWindowSize }
      const session = connect(`https://127.0.0.1:${listener.port}`, {
        rejectUnauthorized: false,
        settings,
      })
      try {
        await Promise.all(questions.map((one) => ask(session, one)))
      } finally {
        session.destroy()
      }
    }),
    { numRuns: 25 },
  )
})

test('a response whose trailers are empty ends the stream', async () => {
  const frames = { take: () => undefined, onReady: () => undefined, close: () => undefined }
  const headers = { trailer: 'x-sum' }
  await using listener = await listen(async () => ({
    status: 200,
    headers,
    frames,
    trailers: () => ({}),
  }))
  const session = connect(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false })
  const stream = session.request({ ':path': '/' }).resume()
  assert.equal(
    await Promise.race([
      once(stream, 'end').then(() => 'ended'),
      sleep(2_000, 'the response hangs'),
    ]),
    'ended',
  )
  session.destroy()
})

test("Node's client receives every header, regardless of its HPACK table size and of other streams", async () => {
  let asked = 0
  await using listener = await listen(async ({ path }) => {
    asked++
    if (asked % 3 === 0) await sleep(1)
    const number = Number(path.slice(1))
    const headers = {
      'x-same': 'the same',
      'x-own': path,
      'x-some': `${number % 6}`,
      [`x-${number % 40}`]: 'x'.repeat(100),
    }
    return { status: 200, headers, body: Buffer.from(path) }
  })
  for (const headerTableSize of [0, 100, 4095, 4096, 65_536]) {
    const settings = { headerTableSize }
    const session = connect(`https://127.0.0.1:${listener.port}`, {
      rejectUnauthorized: false,
      settings,
    })
    const read = async (number: number): Promise<void> => {
      const stream = session.request({ ':path': `/${number}` })
      if (number % 5 === 0) return stream.close(8)
      stream.resume()
      const [[head]] = await Promise.all([once(stream, 'response'), once(stream, 'end')])
      assert.deepEqual(
        [head['x-same'], head['x-own'], head['x-some'], head[`x-${number % 40}`]],
        ['the same', `/${number}`, `${number % 6}`, 'x'.repeat(100)],
      )
    }
    for (let round = 0; round < 20; round++) {
      if (round === 15) session.settings({ headerTableSize: 200 })
      await Promise.all(Array.from({ length: 20 }, (_, at) => read(round * 20 + at)))
    }
    session.destroy()
  }
})
