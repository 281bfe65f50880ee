/**
 * Tests published attacks on HTTP/2 servers. Each attack must end as expected, cost the server
 * little CPU time and no permanent memory, and not delay another client. The server runs in a
 * separate process.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { AttackedServer } from '../support/harness/attacked-server.ts'
import {
  ACK,
  END_HEADERS,
  END_STREAM,
  FRAME,
  field,
  frame,
  headersFrame,
  indexedField,
  preface,
  RawHttp2,
  type ReceivedFrame,
  requestFields,
  reset,
  SETTING,
  settings,
  uint32,
} from '../support/harness/raw-http2.ts'
import { until } from '../support/harness/until.ts'

const CANCEL = 8
const ENHANCE_YOUR_CALM = 11
/** Maximum CPU time of an attack, which is only a fraction of its duration. */
const CPU_MS_MAX = 5_000
/**
 * Maximum permanent growth of memory, caused by compiled code and by pools that are filled for the
 * first time.
 */
const GROWTH_BYTES_MAX = 12_000_000
/** Maximum latency of another client, even on a busy machine. */
const LATENCY_MS_MAX = 20_000

let server: AttackedServer
before(async () => {
  server = await AttackedServer.start()
  // Send some requests before the first attack. The first requests of a process are slow and
  // allocate memory permanently, which must not be attributed to an attack.
  using client = await RawHttp2.open(server.port)
  for (let at = 1; at < 500; at += 2) await client.send(headersFrame(at, requestFields('GET', '/')))
  await sleep(100)
})
after(() => server[Symbol.dispose]())

/**
 * Runs an attack while a well-behaved client sends requests, and checks the effects. If the server
 * must end the connection of the attacker, `errors` matches the expected log entry. If it must not
 * end any connection, `errors` is null.
 */
function attack(name: string, errors: RegExp | null, run: (port: number) => Promise<void>): void {
  test(name, { timeout: 120_000 }, async () => {
    const was = await server.usage()
    const other = new OtherClient(server.port)
    try {
      await run(server.port)
    } finally {
      await other.stop()
    }
    const logged: string[] = []
    let is = was
    await until(async () => {
      is = await server.usage()
      logged.push(...is.connectionErrors)
      return is.openRequests === 0 && (errors === null || logged.length > 0)
    }, 'no request is left, and the end of the connection is logged')
    assert.ok(is.cpuMs - was.cpuMs < CPU_MS_MAX, `${is.cpuMs - was.cpuMs} ms of processor time`)
    assert.ok(
      is.liveBytes - was.liveBytes < GROWTH_BYTES_MAX,
      `${is.liveBytes - was.liveBytes} bytes more`,
    )
    assert.ok(other.slowestMs < LATENCY_MS_MAX, `another client waited ${other.slowestMs} ms`)
    assert.equal(logged.length, errors === null ? 0 : 1, logged.join())
    if (errors !== null) assert.match(logged[0] ?? '', errors)
  })
}

/** A well-behaved client that sends requests in a loop and measures their latency. */
class OtherClient {
  slowestMs = 0
  #isOver = false
  readonly #asking: Promise<void>

  constructor(port: number) {
    this.#asking = this.#ask(port)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#asking
  }

  async #ask(port: number): Promise<void> {
    const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    while (!this.#isOver) {
      const startMs = performance.now()
      const stream = session.request({ ':path': '/' })
      stream.resume()
      const [[head]] = await Promise.all([once(stream, 'response'), once(stream, 'end')])
      assert.equal(head[':status'], 200)
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startMs)
      await sleep(5)
    }
    session.destroy()
  }
}

/**
 * Sends the frames that `make` returns for the numbers below `count`, in groups of a hundred, until
 * the server ends the connection.
 */
async function flood(client: RawHttp2, count: number, make: (at: number) => Buffer): Promise<void> {
  for (let at = 0; at < count && !client.isOver; at += 100) {
    await client.send(...Array.from({ length: 100 }, (_, within) => make(at + within)))
  }
}

const get = (at: number, path = '/', ...fields: readonly Buffer[]): Buffer =>
  headersFrame(2 * at + 1, requestFields('GET', path, ...fields))
const post = (at: number, path = '/', ...fields: readonly Buffer[]): Buffer =>
  headersFrame(2 * at + 1, requestFields('POST', path, ...fields), END_HEADERS)

/** Checks that the server sends GOAWAY with ENHANCE_YOUR_CALM and closes the connection. */
async function assertCut(client: RawHttp2): Promise<void> {
  assert.equal(await client.goawayCode(), ENHANCE_YOUR_CALM)
  assert.ok(await client.closed())
}

/** Defines the test of an attack that sends many frames. The server must end the connection. */
const floodAttack = (
  name: string,
  what: RegExp,
  make: (at: number) => Buffer,
  ...first: readonly Buffer[]
): void =>
  attack(name, what, async (port) => {
    using client = await RawHttp2.open(port, Buffer.concat([preface, settings(), ...first]))
    await flood(client, 20_000, make)
    await assertCut(client)
  })

/**
 * A block of 100 header fields with an empty name and value, all of which are added to the dynamic
 * table.
 */
const nameless = Buffer.alloc(300, Buffer.from([0x40, 0, 0]))

describe('the server withstands attacks on HTTP/2 that were published in 2019', () => {
  floodAttack(
    'CVE-2019-9511, data dribble: a response is read byte by byte',
    /^ENHANCE_YOUR_CALM too many small WINDOW_UPDATE frames/,
    () => frame(FRAME.WINDOW_UPDATE, 0, 1, uint32(1)),
    settings([SETTING.INITIAL_WINDOW_SIZE, 0]),
    get(0, '/large'),
  )
  floodAttack('CVE-2019-9512, ping flood', /^ENHANCE_YOUR_CALM too many PING frames/, () =>
    frame(FRAME.PING, 0, 0, Buffer.alloc(8)),
  )
  floodAttack(
    'acknowledgments of pings that were never sent',
    /^ENHANCE_YOUR_CALM too many PING frames/,
    () => frame(FRAME.PING, ACK, 0, Buffer.alloc(8)),
  )
  floodAttack(
    'CVE-2019-9513, resource loop: priorities change all the time',
    /too many PRIORITY and unknown frames/,
    (at) =>
      frame(
        FRAME.PRIORITY,
        0,
        2 * (at % 50) + 1,
        Buffer.concat([uint32(2 * ((at + 1) % 50) + 1), Buffer.from([at % 256])]),
      ),
  )
  floodAttack(
    'CVE-2019-9514, reset flood: malformed requests',
    /^ENHANCE_YOUR_CALM too many streams were reset/,
    (at) => get(at, '/', field('connection', 'close')),
  )
  floodAttack(
    'CVE-2019-9515, settings flood',
    /^ENHANCE_YOUR_CALM too many SETTINGS frames/,
    (at) => settings([SETTING.INITIAL_WINDOW_SIZE, 60_000 + (at % 2)]),
  )
  floodAttack('acknowledgments of settings that were never sent', /too many SETTINGS frames/, () =>
    frame(FRAME.SETTINGS, ACK, 0),
  )
  floodAttack(
    'CVE-2019-9516, fields with empty names and values',
    /^ENHANCE_YOUR_CALM too many streams were reset/,
    (at) => get(at, '/', nameless),
  )

  attack(
    'CVE-2019-9517, internal data buffering: the windows are open, but the socket is not read',
    null,
    async (port) => {
      const windows = [
        settings([SETTING.INITIAL_WINDOW_SIZE, 0x7fffffff]),
        frame(FRAME.WINDOW_UPDATE, 0, 0, uint32(0x7fff0000)),
      ]
      using client = await RawHttp2.open(port, Buffer.concat([preface, ...windows]))
      client.socket.pause()
      await client.send(...Array.from({ length: 200 }, (_, at) => get(at, '/large')))
      await until(async () => (await server.usage()).openRequests > 100, 'the requests wait')
      const { liveBytes } = await server.usage()
      assert.ok(liveBytes < 60_000_000, `${liveBytes} bytes for 200 responses of a megabyte`)
      client.socket.destroy()
      while ((await server.usage()).openRequests > 0) await sleep(10)
    },
  )

  floodAttack(
    'CVE-2019-9518, empty frames: DATA',
    /^ENHANCE_YOUR_CALM too many small DATA frames/,
    () => frame(FRAME.DATA, 0, 1),
    post(0, '/hang'),
  )
  floodAttack(
    'empty frames: CONTINUATION',
    /^ENHANCE_YOUR_CALM a field block is too long, or in too many/,
    () => frame(FRAME.CONTINUATION, 0, 1),
    headersFrame(1, Buffer.alloc(0), END_STREAM),
  )
  floodAttack(
    'empty DATA on a stream that is closed',
    /^ENHANCE_YOUR_CALM too many small DATA frames/,
    () => frame(FRAME.DATA, END_STREAM, 1),
    post(0, '/', field('connection', 'close')),
  )
  floodAttack(
    'trailers on a stream that is closed',
    /^ENHANCE_YOUR_CALM too many HEADERS frames/,
    () => headersFrame(1, field('x', 'y')),
    post(0, '/', field('connection', 'close')),
  )
})

describe('the server withstands attacks on HTTP/2 that were published since 2020', () => {
  attack(
    'CVE-2020-11080, SETTINGS with thousands of entries',
    /SETTINGS has too many entries/,
    async (port) => {
      using client = await RawHttp2.open(port)
      await client.send(...Array.from({ length: 200 }, (_, at) => get(at, '/hang')))
      const entries = Array.from(
        { length: 2700 },
        (_, at) => [SETTING.INITIAL_WINDOW_SIZE, 65_535 + (at % 2)] as const,
      )
      const many = settings(...entries)
      for (let round = 0; round < 50 && !client.isOver; round++) await client.send(many)
      await assertCut(client)
    },
  )

  floodAttack(
    'CVE-2023-44487, rapid reset',
    /^ENHANCE_YOUR_CALM too many streams were reset/,
    (at) => Buffer.concat([get(at, '/hang'), reset(2 * at + 1, CANCEL)]),
  )

  floodAttack(
    'CONTINUATION flood (2024)',
    /^ENHANCE_YOUR_CALM a field block is too long, or in too many CONTINUATION frames/,
    (at) => frame(FRAME.CONTINUATION, 0, 1, field(`x-${at}`, 'y'.repeat(1000))),
    headersFrame(1, requestFields('GET', '/'), END_STREAM),
  )

  const resets: readonly (readonly [why: string, make: (at: number) => Buffer])[] = [
    [
      'WINDOW_UPDATE of 0',
      (at) =>
        Buffer.concat([get(at, '/hang'), frame(FRAME.WINDOW_UPDATE, 0, 2 * at + 1, uint32(0))]),
    ],
    [
      'a window that overflows',
      (at) =>
        Buffer.concat([
          get(at, '/hang'),
          frame(FRAME.WINDOW_UPDATE, 0, 2 * at + 1, uint32(0x7fffffff)),
        ]),
    ],
    [
      'DATA after the end',
      (at) => Buffer.concat([get(at, '/hang'), frame(FRAME.DATA, 0, 2 * at + 1, Buffer.alloc(50))]),
    ],
    [
      'HEADERS after the end',
      (at) => Buffer.concat([get(at, '/hang'), headersFrame(2 * at + 1, field('x', 'y'))]),
    ],
    [
      'a body that is too long',
      (at) =>
        Buffer.concat([
          post(at, '/hang', field('content-length', '1')),
          frame(FRAME.DATA, 0, 2 * at + 1, Buffer.alloc(50)),
        ]),
    ],
    [
      'a body that is too short',
      (at) =>
        Buffer.concat([
          post(at, '/hang', field('content-length', '99')),
          frame(FRAME.DATA, END_STREAM, 2 * at + 1, Buffer.alloc(50)),
        ]),
    ],
  ]
  for (const [why, make] of resets) {
    floodAttack(
      `CVE-2025-8671, MadeYouReset by ${why}`,
      /^ENHANCE_YOUR_CALM too many (streams were reset|small)/,
      make,
    )
  }
})

const entry = indexedField('x', 'y'.repeat(4000))
/**
 * Returns a block with 200 references to a header field of 4 KB, which encodes 800 KB of headers in
 * 300 bytes.
 */
const bomb = (at: number): Buffer =>
  Buffer.concat([
    requestFields('GET', '/'),
    at === 0 ? entry : Buffer.alloc(0),
    Buffer.alloc(200, 0xbe),
  ])
const isOver = ({ type, stream }: ReceivedFrame): boolean =>
  (type === FRAME.DATA || type === FRAME.RST_STREAM) && stream === 199

describe('the server withstands attacks on HPACK', () => {
  floodAttack(
    'a bomb: every byte refers to the same entry of the table',
    /too many streams were reset/,
    (at) =>
      headersFrame(
        2 * at + 1,
        Buffer.concat([
          requestFields('GET', '/'),
          at === 0 ? entry : Buffer.alloc(0),
          Buffer.alloc(4000, 0xbe),
        ]),
      ),
  )

  attack('a bomb within the limit is released', null, async (port) => {
    using client = await RawHttp2.open(port)
    await flood(client, 100, (at) => headersFrame(2 * at + 1, bomb(at)))
    // All blocks together exceed the budget that all connections share. The server must reject some
    // of the requests, but must not end the connection.
    assert.ok(await client.until(isOver))
    await client.send(headersFrame(201, bomb(100)))
    assert.ok(await client.until(({ type, stream }) => type === FRAME.DATA && stream === 201))
  })

  const broken: readonly (readonly [what: string, bytes: Buffer])[] = [
    ['an index beyond the table', Buffer.from([0xff, 0xff, 0x01])],
    ['an integer without end', Buffer.alloc(100, 0xff)],
    ['a string longer than its block', Buffer.from([0x00, 0x7f, 0xff, 0xff, 0x7f])],
    ['a Huffman code with EOS', Buffer.from([0x00, 0x01, 0x61, 0x84, 0xff, 0xff, 0xff, 0xff])],
    ['a table size beyond the limit', Buffer.from([0x3f, 0xe2, 0x1f])],
    ['a table size in the middle of a block', Buffer.from([0x82, 0x20])],
    ['index 0', Buffer.from([0x80])],
  ]
  for (const [what, bytes] of broken) {
    attack(what, /^COMPRESSION_ERROR/, async (port) => {
      using client = await RawHttp2.open(port)
      await client.send(headersFrame(1, bytes))
      assert.equal(await client.goawayCode(), 9)
      assert.ok(await client.closed())
    })
  }

  attack('a table that changes its size thousands of times', null, async (port) => {
    using client = await RawHttp2.open(port)
    const sizes = Buffer.alloc(16_000, Buffer.from([0x20, 0x3f, 0xe1, 0x1f]))
    for (let at = 0; at < 20; at++) {
      const block = Buffer.concat([sizes, requestFields('GET', '/')])
      await client.send(headersFrame(2 * at + 1, block.subarray(0, 16_000), END_STREAM))
      await client.send(frame(FRAME.CONTINUATION, END_HEADERS, 2 * at + 1, block.subarray(16_000)))
    }
    assert.ok(await client.until(({ type, stream }) => type === FRAME.DATA && stream === 39))
  })
})
