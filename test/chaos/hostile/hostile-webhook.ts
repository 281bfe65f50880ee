/**
 * An admission webhook that misbehaves in every possible way. Each path has a different fault. The
 * webhook runs in its own process, so that its work delays neither the server nor the measurement.
 * One port serves HTTP/1.1, one serves HTTP/2, one never responds, and one does not use TLS.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import {
  createServer as createPlainServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import {
  constants,
  createSecureServer,
  Http2ServerResponse,
  type Http2ServerRequest,
  type Settings,
} from 'node:http2'
import { createServer } from 'node:https'
import { createServer as createSocketServer, type Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { Authority } from '../../support/harness/issued-certificate.ts'

export type HostilePorts = {
  readonly 'HTTP/1.1': number
  readonly 'HTTP/2': number
  /**
   * Port of an HTTP/2 server whose flow-control window is 0, so that clients cannot send bodies.
   * `streams` is the port of an HTTP/2 server that allows no streams.
   */
  readonly window: number
  readonly streams: number
  /** Port that accepts connections and sends nothing. */
  readonly silent: number
  /** Port of an HTTP server without TLS. */
  readonly plain: number
}

type WebhookInfo = { readonly ports: HostilePorts; readonly caBundle: string }

export class HostileWebhook implements AsyncDisposable {
  readonly ports: HostilePorts
  readonly caBundle: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, { ports, caBundle }: WebhookInfo) {
    this.#child = child
    this.ports = ports
    this.caBundle = caBundle
  }

  static async start(): Promise<HostileWebhook> {
    const child = fork(import.meta.filename, ['--serve'], {
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    const [reported]: WebhookInfo[] = await once(child, 'message')
    if (reported === undefined) throw new Error('the webhook did not start')
    return new HostileWebhook(child, reported)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }
}

type Request = IncomingMessage | Http2ServerRequest
type Reply = ServerResponse | Http2ServerResponse
type Review = { readonly apiVersion: string; readonly request: { readonly uid: string } }
type Fault = (reply: Reply, review: Review, request: Request) => void

const MEGABYTE = 1 << 20
const FLOOD_BYTES = 64 * MEGABYTE
const DRIBBLE_MS = 20
/**
 * Size of a response that is below the limit for webhook responses, so that the server decodes it.
 */
const LARGE_BYTES = 3 * MEGABYTE

const answered = ({ apiVersion, request: { uid } }: Review, fields: object): string =>
  JSON.stringify({
    apiVersion,
    kind: 'AdmissionReview',
    response: { uid, allowed: true, ...fields },
  })

const answers =
  (fields: object): Fault =>
  (reply, review) =>
    void reply.end(answered(review, fields))

const says =
  (bytes: string | Buffer): Fault =>
  (reply) =>
    void reply.end(bytes)

const patches = (operations: readonly object[]): Fault =>
  answers({
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  })

// Both branches do the same. They are needed because no overload of `write` accepts both types of
// `reply`.
const write = (reply: Reply, bytes: string | Buffer): boolean =>
  reply instanceof Http2ServerResponse ? reply.write(bytes) : reply.write(bytes)

function head(reply: Reply, status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  reply.statusCode = status
  for (const [name, value] of Object.entries(headers)) reply.setHeader(name, value)
  return reply
}

const destroy = (reply: Reply): void => {
  if (reply instanceof Http2ServerResponse) reply.stream.session?.destroy()
  else reply.destroy()
}

function flood(reply: Reply): void {
  const piece = Buffer.alloc(64 << 10, ' ')
  let left = FLOOD_BYTES
  const more = (): void => {
    while (left > 0 && !reply.destroyed) {
      left -= piece.length
      if (!write(reply, piece)) {
        reply.once('drain', more)
        return
      }
    }
    reply.end()
  }
  more()
}

function dribble(reply: Reply): void {
  const timer = setInterval(() => write(reply, ' '), DRIBBLE_MS)
  reply.on('close', () => clearInterval(timer))
}

/** JSON patch that doubles a list with each operation. The object would have 2 ** 60 entries. */
const copyBomb = [
  { op: 'add', path: '/data', value: { x: 'x'.repeat(1000) } },
  ...Array.from({ length: 60 }, (_, at) => ({ op: 'copy', from: '/data', path: `/data/${at}` })),
]

/** YAML in which each line refers to the previous line ten times. */
const aliasBomb = [
  'a0: &a0 [x]',
  ...Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(10)}]`),
].join('\n')

const many = (make: (at: number) => string): string[] =>
  Array.from({ length: 5_000 }, (_, at) => make(at))

const faults: Readonly<Record<string, Fault>> = {
  allows: answers({}),
  hangs: () => undefined,
  dribbles: dribble,
  floods: flood,
  'says garbage': says('{"kind":'),
  'says bytes': says(Buffer.from([0xff, 0xfe, 0x00, 0x80, 0xc0, 0x7b, 0x22])),
  'says nothing': says(''),
  'nests arrays': says('['.repeat(LARGE_BYTES)),
  'nests objects': says('{"a":'.repeat(LARGE_BYTES / 5)),
  'nests a status': (reply, review) =>
    void reply.end(
      answered(review, { allowed: false }).replace(
        '"allowed"',
        `"status":${'{"details":'.repeat(100_000)}{}`,
      ),
    ),
  'says YAML that grows': says(aliasBomb),
  'says 3 MB of YAML': says('- '.repeat(LARGE_BYTES / 2)),
  'has another uid': answers({ uid: 'other' }),
  'says it is another kind': says('{"kind":"Status","apiVersion":"v1","status":"Success"}'),
  redirects: (reply) => void head(reply, 307, { location: '/allows' }).end(),
  'has an error': (reply) => void head(reply, 500).end('x'.repeat(LARGE_BYTES)),
  resets: destroy,
  'resets the stream': (reply) => {
    if (reply instanceof Http2ServerResponse) reply.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    else destroy(reply)
  },
  'goes away': (reply) => {
    if (reply instanceof Http2ServerResponse)
      reply.stream.session?.goaway(constants.NGHTTP2_NO_ERROR, 0)
    setTimeout(() => destroy(reply), DRIBBLE_MS)
  },
  'stops midway': (reply, review) => {
    write(reply, answered(review, {}).slice(0, 20))
    setTimeout(() => destroy(reply), DRIBBLE_MS)
  },
  'has long headers': (reply, review) => {
    const headers = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`x-${at}`, 'y'.repeat(10_000)]),
    )
    head(reply, 200, headers).end(answered(review, {}))
  },
}

/** Unusual responses that a server must accept, within its limits. */
const oddities: Readonly<Record<string, Fault>> = {
  'warns of a lot': answers({ warnings: many((at) => `${at} ${'w'.repeat(100)}`) }),
  'annotates a lot': answers({
    auditAnnotations: Object.fromEntries(many((at) => `key-${at}`).map((key) => [key, key])),
  }),
  'has names of every object': (reply, review) =>
    void reply.end(
      answered(review, {}).replace(
        '"allowed"',
        '"__proto__":{"allowed":false},"constructor":{"prototype":{}},"allowed"',
      ),
    ),
}

const badPatches: Readonly<Record<string, Fault>> = {
  'copies without end': patches(copyBomb),
  'patches a lot': patches(
    many(() => '/metadata/labels').map((path) => ({ op: 'test', path, value: {} })),
  ),
  'patches with garbage': answers({ patchType: 'JSONPatch', patch: 'bm8=' }),
}

export const faultNames = Object.keys(faults).filter((name) => name !== 'allows')
export const oddityNames = Object.keys(oddities)
export const badPatchNames = Object.keys(badPatches)
export const pathOf = (name: string): string => `/${name.replaceAll(' ', '-')}`

const all = new Map(
  Object.entries({ ...faults, ...oddities, ...badPatches }).map(([name, fault]) => [
    pathOf(name),
    fault,
  ]),
)

function handle(request: Request, reply: Reply): void {
  reply.on('error', () => undefined)
  const { pathname } = new URL(request.url ?? '/', 'https://webhook')
  text(request)
    .then((body) =>
      (all.get(pathname) ?? says(`there is no ${pathname}`))(reply, JSON.parse(body), request),
    )
    .catch(() => destroy(reply))
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('there is no port')
  return address.port
}

async function serve(): Promise<void> {
  const authority = new Authority('hostile')
  const { certificatePem: cert, keyPem: key } = authority.issue({
    usage: ['server'],
    hosts: ['127.0.0.1'],
  })
  const first = createServer({ cert, key }, handle)
  const second = (settings: Settings): Server =>
    createSecureServer({ cert, key, allowHTTP1: true, settings }, handle).on(
      'sessionError',
      () => undefined,
    )
  const silent = createSocketServer((socket) => void socket.on('error', () => undefined).resume())
  const plain = createPlainServer((_, response) => void response.end('{}'))
  const ports: HostilePorts = {
    'HTTP/1.1': await listen(first),
    'HTTP/2': await listen(second({})),
    window: await listen(second({ initialWindowSize: 0 })),
    streams: await listen(second({ maxConcurrentStreams: 0 })),
    silent: await listen(silent),
    plain: await listen(plain),
  }
  process.send?.({ ports, caBundle: Buffer.from(authority.certificatePem).toString('base64') })
  process.on('disconnect', () => process.exit())
}

if (process.argv.includes('--serve') && import.meta.main) await serve()
