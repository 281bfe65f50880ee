/**
 * Generates sequences of frames from a seed. Most frames are valid, and some are invalid in various
 * ways.
 */
import type { Random } from '../../simulation/random.ts'
import {
  ACK,
  block,
  END_HEADERS,
  END_STREAM,
  FRAME,
  frame,
  headersFrame,
  PADDED,
  SETTING,
  settings,
  uint32,
  WITH_PRIORITY,
} from '../../../support/harness/raw-http2.ts'

/**
 * A frame with a name that describes its special property. Differences are identified by these
 * names.
 */
export type Step = { readonly name: string; readonly bytes: Buffer }

type Fields = readonly (readonly [name: string, value: string])[]

/** State of the client's streams. Used to generate frames that are mostly valid in this state. */
class Client {
  readonly random: Random
  #next = 1
  /** IDs of the streams whose request is incomplete. */
  readonly open: number[] = []

  constructor(random: Random) {
    this.random = random
  }

  newId(): number {
    const id = this.#next
    this.#next += 2
    return id
  }

  /** Returns the ID of a random stream among those that were opened, or 1 if there are none. */
  anyId(): number {
    return this.#next === 1 ? 1 : 1 + 2 * this.random.between(0, (this.#next - 3) / 2)
  }

  idleId(): number {
    return this.#next + 2 * this.random.between(0, 3)
  }

  takeOpen(): number | undefined {
    return this.open.length === 0
      ? undefined
      : this.open.splice(this.random.between(0, this.open.length - 1), 1)[0]
  }
}

const pseudo = (method: string): Fields => [
  [':method', method],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', 'localhost'],
]

const request = (client: Client, name: string, fields: Fields, isEnd: boolean): Step => {
  const id = client.newId()
  if (!isEnd) client.open.push(id)
  return { name, bytes: headersFrame(id, block(...fields), END_HEADERS | (isEnd ? END_STREAM : 0)) }
}

type Maker = (client: Client) => Step | undefined

/** Valid frames, which are chosen often. */
const valid: readonly Maker[] = [
  (client) => request(client, 'GET', pseudo('GET'), true),
  (client) => request(client, 'POST', pseudo('POST'), false),
  (client) =>
    request(
      client,
      'POST with content-length',
      [...pseudo('POST'), ['content-length', '4']],
      false,
    ),
  (client) => {
    const id = client.takeOpen()
    return id === undefined
      ? undefined
      : { name: 'DATA and end', bytes: frame(FRAME.DATA, END_STREAM, id, Buffer.from('data')) }
  },
  (client) => {
    const [id] = client.open
    return id === undefined
      ? undefined
      : { name: 'DATA', bytes: frame(FRAME.DATA, 0, id, Buffer.from('data')) }
  },
  (client) => {
    const id = client.takeOpen()
    return id === undefined
      ? undefined
      : { name: 'trailers', bytes: headersFrame(id, block(['x-trailer', 'y'])) }
  },
  (client) => {
    const id = client.newId()
    const fields = block(...pseudo('GET'), ['x', 'y'])
    const cut = client.random.between(0, fields.length)
    const parts = [
      headersFrame(id, fields.subarray(0, cut), END_STREAM),
      frame(FRAME.CONTINUATION, END_HEADERS, id, fields.subarray(cut)),
    ]
    return { name: 'GET with CONTINUATION', bytes: Buffer.concat(parts) }
  },
  (client) => {
    const id = client.newId()
    const payload = Buffer.concat([
      Buffer.from([3]),
      uint32(0),
      Buffer.from([16]),
      block(...pseudo('GET')),
      Buffer.alloc(3),
    ])
    return {
      name: 'GET with padding and priority',
      bytes: headersFrame(id, payload, END_STREAM | END_HEADERS | PADDED | WITH_PRIORITY),
    }
  },
  () => ({ name: 'PING', bytes: frame(FRAME.PING, 0, 0, Buffer.from('12345678')) }),
  (client) => ({
    name: 'SETTINGS',
    bytes: settings([SETTING.INITIAL_WINDOW_SIZE, client.random.between(1000, 70_000)]),
  }),
  () => ({
    name: 'WINDOW_UPDATE of the connection',
    bytes: frame(FRAME.WINDOW_UPDATE, 0, 0, uint32(1000)),
  }),
  (client) => {
    const [id] = client.open
    return id === undefined
      ? undefined
      : { name: 'WINDOW_UPDATE', bytes: frame(FRAME.WINDOW_UPDATE, 0, id, uint32(1000)) }
  },
  (client) => {
    const id = client.takeOpen()
    return id === undefined
      ? undefined
      : { name: 'RST_STREAM', bytes: frame(FRAME.RST_STREAM, 0, id, uint32(8)) }
  },
  (client) => ({
    name: 'PRIORITY',
    bytes: frame(FRAME.PRIORITY, 0, client.newId(), Buffer.concat([uint32(0), Buffer.from([1])])),
  }),
  () => ({ name: 'a frame of an unknown type', bytes: frame(0x42, 0xff, 0, Buffer.from('x')) }),
]

const malformed: readonly (readonly [name: string, make: (fields: Fields) => Fields])[] = [
  ['connection', (fields) => [...fields, ['connection', 'close']]],
  ['transfer-encoding', (fields) => [...fields, ['transfer-encoding', 'chunked']]],
  ['te: gzip', (fields) => [...fields, ['te', 'gzip']]],
  ['te: trailers', (fields) => [...fields, ['te', 'trailers']]],
  ['upper case', (fields) => [...fields, ['X', 'y']]],
  ['an empty name', (fields) => [...fields, ['', 'y']]],
  ['LF in a value', (fields) => [...fields, ['x', 'a\nb']]],
  ['NUL in a value', (fields) => [...fields, ['x', 'a\0b']]],
  ['blanks around a value', (fields) => [...fields, ['x', ' y ']]],
  ['no method', (fields) => fields.slice(1)],
  ['no scheme', (fields) => fields.filter(([name]) => name !== ':scheme')],
  ['no path', (fields) => fields.filter(([name]) => name !== ':path')],
  ['no authority', (fields) => fields.filter(([name]) => name !== ':authority')],
  ['host instead of authority', (fields) => [...fields.slice(0, 3), ['host', 'localhost']]],
  ['another host', (fields) => [...fields, ['host', 'elsewhere']]],
  ['two hosts', (fields) => [...fields, ['host', 'localhost'], ['host', 'localhost']]],
  [
    'an empty path',
    (fields) => fields.map(([name, value]) => [name, name === ':path' ? '' : value] as const),
  ],
  [
    'a path without a slash',
    (fields) => fields.map(([name, value]) => [name, name === ':path' ? 'x' : value] as const),
  ],
  [
    'a blank in a path',
    (fields) => fields.map(([name, value]) => [name, name === ':path' ? '/a b' : value] as const),
  ],
  [
    'a blank in a method',
    (fields) => fields.map(([name, value]) => [name, name === ':method' ? 'G T' : value] as const),
  ],
  ['two paths', (fields) => [...fields, [':path', '/']]],
  ['an unknown pseudo field', (fields) => [...fields, [':foo', 'x']]],
  [':status', (fields) => [...fields, [':status', '200']]],
  [
    'a pseudo field behind others',
    (fields) => [...fields.slice(0, 2), ['x', 'y'], ...fields.slice(2)],
  ],
  ['a content-length that is none', (fields) => [...fields, ['content-length', 'x']]],
  [
    'two content-lengths',
    (fields) => [...fields, ['content-length', '4'], ['content-length', '4']],
  ],
  [
    'two content-lengths that differ',
    (fields) => [...fields, ['content-length', '4'], ['content-length', '5']],
  ],
]

/** Invalid or unusual frames. */
const odd: readonly Maker[] = [
  ...malformed.flatMap(([name, make]): Maker[] => [
    (client) => request(client, `GET: ${name}`, make(pseudo('GET')), true),
    (client) => request(client, `POST: ${name}`, make(pseudo('POST')), false),
  ]),
  (client) =>
    request(
      client,
      'CONNECT',
      [
        [':method', 'CONNECT'],
        [':authority', 'x:1'],
      ],
      false,
    ),
  (client) =>
    request(
      client,
      'GET: content-length without a body',
      [...pseudo('GET'), ['content-length', '4']],
      true,
    ),
  (client) => ({
    name: 'DATA on an idle stream',
    bytes: frame(FRAME.DATA, 0, client.idleId(), Buffer.from('x')),
  }),
  (client) => ({
    name: 'DATA on any stream',
    bytes: frame(FRAME.DATA, 0, client.anyId(), Buffer.from('x')),
  }),
  () => ({ name: 'DATA on stream 0', bytes: frame(FRAME.DATA, 0, 0, Buffer.from('x')) }),
  () => ({ name: 'HEADERS on stream 0', bytes: headersFrame(0, block(...pseudo('GET'))) }),
  () => ({ name: 'HEADERS on an even stream', bytes: headersFrame(2, block(...pseudo('GET'))) }),
  (client) => ({
    name: 'HEADERS on any stream',
    bytes: headersFrame(client.anyId(), block(...pseudo('GET'))),
  }),
  (client) => ({
    name: 'HEADERS of an unknown index',
    bytes: headersFrame(client.newId(), Buffer.from([0xff, 0x50])),
  }),
  (client) => ({
    name: 'HEADERS with too much padding',
    bytes: headersFrame(client.newId(), Buffer.from([200, 0x82]), END_HEADERS | PADDED),
  }),
  (client) => {
    const id = client.newId()
    const priority = Buffer.concat([uint32(id), Buffer.from([1])])
    const bytes = headersFrame(
      id,
      Buffer.concat([priority, block(...pseudo('GET'))]),
      END_STREAM | END_HEADERS | WITH_PRIORITY,
    )
    return { name: 'HEADERS that depend on themselves', bytes }
  },
  (client) => ({
    name: 'HEADERS too short for a priority',
    bytes: headersFrame(client.newId(), Buffer.from([0x82]), END_HEADERS | WITH_PRIORITY),
  }),
  (client) => ({
    name: 'HEADERS without END_HEADERS',
    bytes: headersFrame(client.newId(), block(...pseudo('GET')), END_STREAM),
  }),
  (client) => ({
    name: 'CONTINUATION by itself',
    bytes: frame(FRAME.CONTINUATION, END_HEADERS, client.anyId(), Buffer.from([0x82])),
  }),
  (client) => ({
    name: 'PRIORITY of a wrong size',
    bytes: frame(FRAME.PRIORITY, 0, client.newId(), Buffer.alloc(4)),
  }),
  () => ({ name: 'PRIORITY on stream 0', bytes: frame(FRAME.PRIORITY, 0, 0, Buffer.alloc(5)) }),
  (client) => {
    const id = client.newId()
    return {
      name: 'PRIORITY that depends on itself',
      bytes: frame(FRAME.PRIORITY, 0, id, Buffer.concat([uint32(id), Buffer.from([1])])),
    }
  },
  (client) => ({
    name: 'RST_STREAM on an idle stream',
    bytes: frame(FRAME.RST_STREAM, 0, client.idleId(), uint32(8)),
  }),
  (client) => ({
    name: 'RST_STREAM of a wrong size',
    bytes: frame(FRAME.RST_STREAM, 0, client.anyId(), Buffer.alloc(3)),
  }),
  () => ({ name: 'RST_STREAM on stream 0', bytes: frame(FRAME.RST_STREAM, 0, 0, uint32(8)) }),
  () => ({ name: 'SETTINGS on a stream', bytes: frame(FRAME.SETTINGS, 0, 1) }),
  () => ({ name: 'SETTINGS of a wrong size', bytes: frame(FRAME.SETTINGS, 0, 0, Buffer.alloc(5)) }),
  () => ({
    name: 'SETTINGS acknowledgement with content',
    bytes: frame(FRAME.SETTINGS, ACK, 0, Buffer.alloc(6)),
  }),
  () => ({ name: 'SETTINGS: push is 2', bytes: settings([SETTING.ENABLE_PUSH, 2]) }),
  () => ({
    name: 'SETTINGS: a window too large',
    bytes: settings([SETTING.INITIAL_WINDOW_SIZE, 0x80000000]),
  }),
  () => ({ name: 'SETTINGS: frames too small', bytes: settings([SETTING.MAX_FRAME_SIZE, 100]) }),
  () => ({
    name: 'SETTINGS: frames too large',
    bytes: settings([SETTING.MAX_FRAME_SIZE, 0x1000000]),
  }),
  () => ({ name: 'SETTINGS: unknown', bytes: settings([0x99, 1]) }),
  () => ({
    name: 'SETTINGS: 33 entries',
    bytes: settings(
      ...Array.from({ length: 33 }, () => [SETTING.INITIAL_WINDOW_SIZE, 65_535] as const),
    ),
  }),
  () => ({ name: 'PUSH_PROMISE', bytes: frame(FRAME.PUSH_PROMISE, END_HEADERS, 1, uint32(2)) }),
  () => ({ name: 'PING of a wrong size', bytes: frame(FRAME.PING, 0, 0, Buffer.alloc(7)) }),
  () => ({ name: 'PING on a stream', bytes: frame(FRAME.PING, 0, 1, Buffer.alloc(8)) }),
  () => ({ name: 'PING acknowledgement', bytes: frame(FRAME.PING, ACK, 0, Buffer.alloc(8)) }),
  () => ({ name: 'GOAWAY on a stream', bytes: frame(FRAME.GOAWAY, 0, 1, Buffer.alloc(8)) }),
  () => ({ name: 'GOAWAY of a wrong size', bytes: frame(FRAME.GOAWAY, 0, 0, Buffer.alloc(4)) }),
  () => ({ name: 'WINDOW_UPDATE of 0', bytes: frame(FRAME.WINDOW_UPDATE, 0, 0, uint32(0)) }),
  (client) => ({
    name: 'WINDOW_UPDATE of 0 on a stream',
    bytes: frame(FRAME.WINDOW_UPDATE, 0, client.anyId(), uint32(0)),
  }),
  () => ({
    name: 'WINDOW_UPDATE too large',
    bytes: frame(FRAME.WINDOW_UPDATE, 0, 0, uint32(0x7fffffff)),
  }),
  (client) => {
    const [id] = client.open
    return id === undefined
      ? undefined
      : {
          name: 'WINDOW_UPDATE too large on a stream',
          bytes: frame(FRAME.WINDOW_UPDATE, 0, id, uint32(0x7fffffff)),
        }
  },
  () => ({
    name: 'WINDOW_UPDATE of a wrong size',
    bytes: frame(FRAME.WINDOW_UPDATE, 0, 0, Buffer.alloc(3)),
  }),
  (client) => ({
    name: 'WINDOW_UPDATE on an idle stream',
    bytes: frame(FRAME.WINDOW_UPDATE, 0, client.idleId(), uint32(1)),
  }),
  () => ({ name: 'a frame too large', bytes: frame(FRAME.PING, 0, 0, Buffer.alloc(16_385)) }),
]

const STEPS_MAX = 8
const ODD_SHARE = 0.25

export function generate(random: Random): readonly Step[] {
  const client = new Client(random)
  const steps: Step[] = []
  const count = random.between(1, STEPS_MAX)
  while (steps.length < count) {
    const step = random.pick(random.chance(ODD_SHARE) ? odd : valid)(client)
    if (step !== undefined) steps.push(step)
  }
  return steps
}
