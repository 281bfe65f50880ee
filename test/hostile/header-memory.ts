/**
 * What connections hold that have sent the worst headers and have not shown who they are. A whole server on a real etcd gets
 * thousands of them; each sends about a megabyte of headers in one of several ways, and stays. Then the server is asked what
 * it holds, and a client in good faith is answered.
 *
 *   --connections N   how many (9,900: the server takes 10,000)
 *   --short           200, for CI
 *
 * The last line is `N passed, N failed`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startEtcd } from '../harness/etcd.ts'
import { startKeelson } from '../harness/keelson.ts'
import {
  field,
  headersFrame,
  indexedField,
  integer,
  longHeaders,
  preface,
  RawHttp2,
  requestFields,
  SETTING,
  settings,
} from '../harness/raw-http2.ts'
import { inspect, residentBytes } from './inspect.ts'
import { Witness } from './witness.ts'

const CONNECTIONS = 9_900
const CONNECTIONS_SHORT = 200
/** Handshakes at the same time. */
const LANES = 16
/** What one may hold, in resident memory: TLS alone takes half of that. */
const EACH_BYTES_MAX = 100 * 1024
/** What all together may hold besides: the budget for large headers, and code and buffers that were used for the first time. */
const SHARED_BYTES_MAX = 128 * 1024 * 1024
const LATENCY_MS_MAX = 5_000

/** `a` 960,000 times as a Huffman code: eight of them are five bytes. */
const coded = Buffer.alloc(600_000, Buffer.from([0x18, 0xc6, 0x31, 0x8c, 0x63]))
const longField = (name: string): Buffer =>
  Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), integer(coded.length, 0x7f, 0x80), coded])
const long = longField('x')
const hundredths = Array.from({ length: 100 }, (_, at) => field(`x-${at}`, 'y'.repeat(9_000)))
const filled = Array.from({ length: 100 }, (_, at) => indexedField(`${at}`, ''))

const first = (...entries: readonly (readonly [number, number])[]): Buffer =>
  Buffer.concat([preface, settings(...entries)])

/** All that a connection sends, by name. */
const worst: readonly (readonly [name: string, bytes: Buffer])[] = [
  ['a header of 960 KB', Buffer.concat([first(), longHeaders(1, requestFields('GET', '/api', long))])],
  ['100 headers of 9 KB', Buffer.concat([first(), longHeaders(1, requestFields('GET', '/api', ...hundredths))])],
  [
    'a header of 960 KB, and a window of 0',
    Buffer.concat([first([SETTING.INITIAL_WINDOW_SIZE, 0]), longHeaders(1, requestFields('GET', '/api', long))]),
  ],
  [
    'a malformed header of 960 KB',
    Buffer.concat([first(), longHeaders(1, requestFields('GET', '/api', longField('X')))]),
  ],
  [
    'headers that do not come to their end',
    Buffer.concat([first(), longHeaders(1, requestFields('GET', '/api', long), { isEnd: false })]),
  ],
  [
    'headers that stop short of being large',
    Buffer.concat([first(), longHeaders(1, Buffer.alloc(16_000), { frameBytes: 1_000, isEnd: false })]),
  ],
  ['a table of headers that is full', Buffer.concat([first(), headersFrame(1, requestFields('GET', '/', ...filled))])],
  ['a path of 900 KB', Buffer.concat([first(), longHeaders(1, requestFields('GET', `/${'x'.repeat(900_000)}`))])],
]

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { connections: { type: 'string' }, short: { type: 'boolean', default: false } },
  })
  const count = Number(values.connections ?? (values.short ? CONNECTIONS_SHORT : CONNECTIONS))
  await using etcd = await startEtcd()
  process.env['NODE_OPTIONS'] = '--inspect=127.0.0.1:0'
  await using server = await startKeelson({ etcdUrl: etcd.clientUrl })
  using inspector = await inspect(server.log)
  const witness = new Witness(server.url)
  await witness.get('/api/v1/namespaces')
  const before = { live: await inspector.liveBytes(), resident: residentBytes(server.pid) }

  const port = Number(new URL(server.url).port)
  const open: RawHttp2[] = []
  const startMs = performance.now()
  let begun = 0
  const lane = async (): Promise<void> => {
    while (begun < count) {
      const [, bytes] = worst[begun++ % worst.length] ?? ['', preface]
      const client = await RawHttp2.open(port, bytes).catch(() => undefined)
      if (client !== undefined) open.push(client)
    }
  }
  const witnessing = witness.run(['/api/v1/namespaces'])
  await Promise.all(Array.from({ length: LANES }, lane))
  await sleep(3_000)
  const stayed = open.filter(({ isOver }) => !isOver).length
  const after = { live: await inspector.liveBytes(), resident: residentBytes(server.pid) }
  witness.stop()
  await witnessing
  for (const client of open) client[Symbol.dispose]()

  const seconds = (performance.now() - startMs) / 1000
  const slowestMs = Math.max(...witness.latenciesMs)
  const grown = { live: after.live - before.live, resident: after.resident - before.resident }
  console.log(`${count} connections in ${seconds.toFixed(0)} s, ${stayed} of them stayed`)
  console.log(`live memory grew by ${megabytes(grown.live)}, resident by ${megabytes(grown.resident)}`)
  console.log(`each of ${count}: ${kilobytes(grown.live / count)} live, ${kilobytes(grown.resident / count)} resident`)
  console.log(`${witness.latenciesMs.length} answers to others, the slowest after ${slowestMs.toFixed(0)} ms`)
  report([
    ['what is held', grown.resident < SHARED_BYTES_MAX + count * EACH_BYTES_MAX],
    // Of few connections one cannot say, what has grown by itself is too much in it.
    ['what each holds', count < 2_000 || grown.resident < count * EACH_BYTES_MAX],
    ['what is alive', grown.live < SHARED_BYTES_MAX / 2 + count * EACH_BYTES_MAX],
    ['others are served', witness.failures.length === 0 && slowestMs < LATENCY_MS_MAX],
  ])
}

function report(verdicts: readonly (readonly [what: string, isGood: boolean])[]): void {
  for (const [what, isGood] of verdicts) if (!isGood) console.log(`FAULT ${what}`)
  const failed = verdicts.filter(([, isGood]) => !isGood).length
  if (failed > 0) process.exitCode = 1
  console.log(`${verdicts.length - failed} passed, ${failed} failed`)
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`
const kilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`

await main()
