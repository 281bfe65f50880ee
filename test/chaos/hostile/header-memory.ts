/**
 * Measures the memory of unauthenticated connections that have sent the most expensive headers. A
 * listener in its own process accepts thousands of connections. Each connection sends about a
 * megabyte of headers in one of several ways, and stays open, because the listener's timeouts are
 * disabled. Then the memory of the listener is measured. A well-behaved client must get responses
 * throughout.
 *
 *   --connections N   number of connections (9,700; the server accepts 10,000).
 *   --short           200 connections, for CI.
 *
 * The last line is `N passed, N failed`.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Handler } from '../../../src/api/request.ts'
import { Listener } from '../../../src/net/http/listener.ts'
import { createSelfSigned } from '../../../src/lib/x509/certificates.ts'
import { measureFootprint } from '../../support/harness/leaks.ts'
import {
  field,
  FRAME,
  headersFrame,
  indexedField,
  integer,
  longHeaders,
  preface,
  RawHttp2,
  type ReceivedFrame,
  requestFields,
  SETTING,
  settings,
} from '../../support/harness/raw-http2.ts'
import { residentBytes } from './inspect.ts'
import { Witness } from './witness.ts'

const CONNECTIONS = 9_700
const CONNECTIONS_SHORT = 200
/**
 * Number of connections that send at the same time. Another connection starts to send only when one
 * of them has received its response. All of them together stay below the server's budget for large
 * headers. If they exceeded it, the server would close new connections.
 */
const LANES = 16
const ANSWER_MS_MAX = 60_000
/** Maximum resident memory per connection. TLS alone takes half of it. */
const EACH_BYTES_MAX = 100 * 1024
/**
 * Maximum resident memory that does not depend on the number of connections. It contains the
 * server's budget for large headers, and code and buffers that are used for the first time.
 */
const SHARED_BYTES_MAX = 128 * 1024 * 1024
/**
 * Maximum live memory per connection, in JavaScript objects and buffers. Most of it is a full
 * dynamic table of HPACK.
 */
const EACH_LIVE_BYTES_MAX = 24 * 1024
const SHARED_LIVE_BYTES_MAX = 16 * 1024 * 1024
const LATENCY_MS_MAX = 20_000
const HOUR_MS = 3_600_000
const WITNESS_PATH = '/witness'

/** The letter `a` 960,000 times in Huffman code. Eight letters take five bytes. */
const coded = Buffer.alloc(600_000, Buffer.from([0x18, 0xc6, 0x31, 0x8c, 0x63]))
const longField = (name: string): Buffer =>
  Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    integer(coded.length, 0x7f, 0x80),
    coded,
  ])
const long = longField('x')
const hundredths = Array.from({ length: 100 }, (_, at) => field(`x-${at}`, 'y'.repeat(9_000)))
const filled = Array.from({ length: 100 }, (_, at) => indexedField(`${at}`, ''))

const first = (...entries: readonly (readonly [number, number])[]): Buffer =>
  Buffer.concat([preface, settings(...entries)])

/**
 * Name of the case in which the server sends no response, because it waits for the remaining
 * headers.
 */
const STOPPED_SHORT = 'headers that stop short of being large'

/** Bytes that a connection sends, by case name. */
const worst: readonly (readonly [name: string, bytes: Buffer])[] = [
  [
    'a header of 960 KB',
    Buffer.concat([first(), longHeaders(1, requestFields('GET', '/api', long))]),
  ],
  [
    '100 headers of 9 KB',
    Buffer.concat([first(), longHeaders(1, requestFields('GET', '/api', ...hundredths))]),
  ],
  [
    'a header of 960 KB, and a window of 0',
    Buffer.concat([
      first([SETTING.INITIAL_WINDOW_SIZE, 0]),
      longHeaders(1, requestFields('GET', '/api', long)),
    ]),
  ],
  [
    'a malformed header of 960 KB',
    Buffer.concat([first(), longHeaders(1, requestFields('GET', '/api', longField('X')))]),
  ],
  [
    STOPPED_SHORT,
    Buffer.concat([
      first(),
      longHeaders(1, Buffer.alloc(16_000), { frameBytes: 1_000, isEnd: false }),
    ]),
  ],
  [
    'a table of headers that is full',
    Buffer.concat([first(), headersFrame(1, requestFields('GET', '/', ...filled))]),
  ],
  [
    'a path of 900 KB',
    Buffer.concat([first(), longHeaders(1, requestFields('GET', `/${'x'.repeat(900_000)}`))]),
  ],
]

/**
 * Bytes of a connection that starts to send large headers and never ends them. When such
 * connections exhaust the budget for large headers, the server closes any connection with a large
 * header. These connections are therefore tested last.
 */
const unfinished = Buffer.concat([
  first(),
  longHeaders(1, requestFields('GET', '/api', long), { isEnd: false }),
])
const UNFINISHED = 200
/**
 * Maximum memory of unfinished headers. It consists of the memory of the connections and twice the
 * budget for large headers, because buffers grow by doubling.
 */
const UNFINISHED_BYTES_MAX = 2 * 32 * 1024 * 1024 + UNFINISHED * EACH_BYTES_MAX

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { connections: { type: 'string' }, short: { type: 'boolean', default: false } },
  })
  const count = Number(values.connections ?? (values.short ? CONNECTIONS_SHORT : CONNECTIONS))
  using server = await startTarget()
  const { port } = server
  const witness = new Witness(`https://127.0.0.1:${port}`)
  await witness.get(WITNESS_PATH)
  const before = await server.measure()

  const open: RawHttp2[] = []
  const faults = new Map<string, number>()
  const startMs = performance.now()
  let begun = 0
  const lane = async (): Promise<void> => {
    while (begun < count) {
      const [name, bytes] = worst[begun++ % worst.length] ?? ['', preface]
      try {
        const client = await RawHttp2.open(port, bytes)
        open.push(client)
        if (name !== STOPPED_SHORT) await client.until(({ stream }) => stream === 1, ANSWER_MS_MAX)
      } catch (error) {
        countOne(faults, `${name}: ${String(error)}`)
      }
    }
  }
  const witnessing = witness.run([WITNESS_PATH])
  await Promise.all(Array.from({ length: LANES }, lane))
  await sleep(3_000)
  const stayed = open.filter(({ isOver }) => !isOver).length
  for (const { isOver, received } of open)
    if (isOver) countOne(faults, `ended: ${whyEnded(received)}`)
  const after = await server.measure()
  for (let at = 0; at < UNFINISHED; at++) open.push(await RawHttp2.open(port, unfinished))
  await sleep(1_000)
  const last = await server.measure()
  witness.stop()
  await witnessing
  for (const client of open) client[Symbol.dispose]()

  const seconds = (performance.now() - startMs) / 1000
  const slowestMs = Math.max(...witness.latenciesMs)
  const grown = { live: after.live - before.live, resident: after.resident - before.resident }
  console.log(`${count} connections in ${seconds.toFixed(0)} s, ${stayed} of them stayed open`)
  for (const [fault, times] of faults) console.log(`${times} times: ${fault}`)
  console.log(
    `live memory grew by ${megabytes(grown.live)}, resident by ${megabytes(grown.resident)}`,
  )
  console.log(
    `each open connection: ${kilobytes(grown.live / stayed)} live, ${kilobytes(grown.resident / stayed)} resident`,
  )
  console.log(`${UNFINISHED} with unfinished headers: ${megabytes(last.live - after.live)} live`)
  console.log(
    `${witness.latenciesMs.length} responses to the well-behaved client, the slowest after ${slowestMs.toFixed(0)} ms`,
  )
  report([
    ['all connections stayed open', stayed === count],
    [
      'resident memory of all connections',
      grown.resident < SHARED_BYTES_MAX + stayed * EACH_BYTES_MAX,
    ],
    // Check this only if there are many connections. If there are few, most of the memory does not
    // depend on their number.
    ['resident memory per connection', count < 5_000 || grown.resident < stayed * EACH_BYTES_MAX],
    ['live memory', grown.live < SHARED_LIVE_BYTES_MAX + stayed * EACH_LIVE_BYTES_MAX],
    ['live memory of unfinished headers', last.live - after.live < UNFINISHED_BYTES_MAX],
    ['other clients get responses', witness.failures.length === 0 && slowestMs < LATENCY_MS_MAX],
  ])
}

const countOne = (counts: Map<string, number>, what: string): void =>
  void counts.set(what, (counts.get(what) ?? 0) + 1)

const whyEnded = (received: readonly ReceivedFrame[]): string => {
  const goaway = received.find(({ type }) => type === FRAME.GOAWAY)
  return goaway === undefined ? 'without GOAWAY' : `GOAWAY ${goaway.payload.readUInt32BE(4)}`
}

function report(verdicts: readonly (readonly [what: string, isGood: boolean])[]): void {
  for (const [what, isGood] of verdicts) if (!isGood) console.log(`FAULT ${what}`)
  const failed = verdicts.filter(([, isGood]) => !isGood).length
  if (failed > 0) process.exitCode = 1
  console.log(`${verdicts.length - failed} passed, ${failed} failed`)
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`
const kilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`

const refuse: Handler = async ({ path }) =>
  path === WITNESS_PATH
    ? { status: 200, headers: {}, body: Buffer.from('ok') }
    : { status: 401, headers: {}, body: Buffer.from('who are you?'), isUnauthenticated: true }

/**
 * Runs the process under attack. Sends its port to the parent process, and responds to each message
 * of the parent with a measurement.
 */
async function serve(): Promise<void> {
  const limits = {
    idleMsMax: HOUR_MS,
    headMsMax: HOUR_MS,
    stallMsMax: HOUR_MS,
    unauthenticatedStallMsMax: HOUR_MS,
  }
  const listener = new Listener({
    handler: refuse,
    tls: createSelfSigned('attacked', ['127.0.0.1'], Date.now()),
    limits,
    endsUnauthenticated: false,
    log: () => undefined,
  })
  await listener.listen(0, '127.0.0.1')
  process.on('message', () => {
    for (let round = 0; round < 3; round++) measureFootprint()
    process.send?.({ live: measureFootprint().memoryBytes, resident: residentBytes(process.pid) })
  })
  process.on('disconnect', () => process.exit())
  process.send?.({ port: listener.port })
}

type MemoryUse = { readonly live: number; readonly resident: number }

async function startTarget(): Promise<
  Disposable & { readonly port: number; readonly measure: () => Promise<MemoryUse> }
> {
  const child = fork(import.meta.filename, ['--serve'])
  const [reported]: { port: number }[] = await once(child, 'message')
  return {
    port: reported?.port ?? 0,
    measure: async () => {
      child.send('measure')
      const [held]: MemoryUse[] = await once(child, 'message')
      if (held === undefined) throw new Error('the target did not send a measurement')
      return held
    },
    [Symbol.dispose]: () => child.kill(),
  }
}

await (process.argv.includes('--serve') ? serve() : main())
