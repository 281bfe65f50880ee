/**
 * A whole server in this process on a real etcd, and small clients for it over HTTP/2 and HTTP/1.1.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { checkArgs, type Config } from '../../src/config/config.ts'
import type { Ids } from '../../src/api/ids.ts'
import type { Clock } from '../../src/lib/time/clock.ts'
import type { Log } from '../../src/lib/telemetry/log.ts'
import { realEnvironment } from '../../src/server/environment.ts'
import { startServer } from '../../src/server/server.ts'
import type { FindHost } from '../../src/request/verbs/subresources/find-host.ts'
import { startEtcd } from '../support/harness/etcd.ts'

export type Answer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export type Call = {
  readonly method?: string
  readonly path: string
  readonly token?: string | null
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string }
  /** Whether the body is sent without a content-length. */
  readonly hidesLength?: boolean
}

export interface Client extends AsyncDisposable {
  readonly call: (call: Call) => Promise<Answer>
  /**
   * Yields the lines of a streamed response as they arrive. Ends when the server ends the response
   * or the caller stops.
   */
  readonly lines: (call: Call) => AsyncGenerator<string, void, void>
}

export const adminToken = 'admin-token'

export type TestServer = AsyncDisposable & {
  readonly url: string
  readonly etcd: Etcd
  readonly etcdUrl: string
  /** Warnings and errors that the server logged. */
  readonly complaints: readonly string[]
  /** Info messages that the server logged. */
  readonly remarks: readonly string[]
  /** Suspends etcd until `resumeEtcd` is called. */
  readonly pauseEtcd: () => void
  readonly resumeEtcd: () => void
  /** Stops only the server. etcd continues. */
  readonly stop: () => Promise<void>
}

/**
 * Options of a test server. `findHost` resolves host names, for tests with nodes on this machine.
 */
type Options = { readonly findHost?: FindHost; readonly clock?: Clock; readonly ids?: Ids }

export async function startTestServer(
  args: readonly string[] = [],
  options: Options = {},
): Promise<TestServer> {
  const etcd = await startEtcd()
  return startOn(etcd, args, { ...options, owned: etcd })
}

type Etcd = Awaited<ReturnType<typeof startEtcd>>

/** Starts another server on the same etcd. Stopping this server does not stop etcd. */
export const startReplica = (
  { etcd }: TestServer,
  args: readonly string[] = [],
): Promise<TestServer> => startOn(etcd, args)

export async function startOn(
  etcd: Etcd,
  args: readonly string[],
  { owned, ...options }: Options & { readonly owned?: AsyncDisposable } = {},
): Promise<TestServer> {
  // If the start fails, stop everything that was started. A running etcd would prevent the test
  // from ending.
  await using parts = new AsyncDisposableStack()
  if (owned !== undefined) parts.use(owned)
  const dir = await mkdtemp(join(tmpdir(), 'keelson-integration-'))
  parts.defer(() => rm(dir, { recursive: true, force: true }))
  const complaints: string[] = []
  const remarks: string[] = []
  const log: Log = (level, message, fields) => {
    // Ignore this message. The test and its client run on the event loop of the server, so they
    // also block it.
    if (message === 'event loop blocked') return
    if (level === 'error' || level === 'warn')
      complaints.push(`${level} ${message} ${JSON.stringify(fields)}`)
    else if (level === 'info') remarks.push(`${message} ${JSON.stringify(fields)}`)
  }
  const tokenFile = join(dir, 'tokens.csv')
  await writeFile(
    tokenFile,
    `${adminToken},admin,admin-uid,system:masters\nbob-token,bob,bob-uid\n`,
  )
  const addresses = ['--bind-address=127.0.0.1', '--advertise-address=127.0.0.1']
  const flags = [
    `--etcd-servers=${etcd.clientUrl}`,
    ...addresses,
    `--cert-dir=${dir}`,
    `--token-auth-file=${tokenFile}`,
    // Disable the plugin that needs ServiceAccounts, because no controller creates them.
    '--disable-admission-plugins=ServiceAccount',
  ]
  const checked = checkArgs([...flags, ...args])
  if (checked.kind === 'faults') throw new Error(checked.faults.join('\n'))
  const config: Config = {
    ...checked.config,
    network: { ...checked.config.network, port: 0 },
  }
  const server = parts.use(await startServer(config, { ...realEnvironment(log), ...options }))
  const started = parts.move()
  return {
    url: server.url,
    etcd,
    etcdUrl: etcd.clientUrl,
    complaints,
    remarks,
    pauseEtcd: () => etcd.pause(),
    resumeEtcd: () => etcd.resume(),
    stop: () => server.stop(),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

export const clients: { readonly [version: string]: (url: string) => Client } = {
  'HTTP/2': (url) => new Http2Client(url),
  'HTTP/1.1': (url) => new Http1Client(url),
}

class Http2Client implements Client {
  readonly #url: string
  #session: ClientHttp2Session

  constructor(url: string) {
    this.#url = url
    this.#session = connect(url, { rejectUnauthorized: false })
  }

  call = async (call: Call): Promise<Answer> => {
    const stream = this.#open(call)
    stream.setEncoding('utf8')
    // Start to read the body before the headers arrive. If a stream ends before it is read, Node
    // reports it as aborted.
    const [headers, text] = await Promise.all([
      new Promise<IncomingHttpHeaders>((resolve, reject) => {
        stream.once('response', resolve).once('error', reject)
      }),
      readText(stream),
    ])
    return { status: Number(headers[':status']), headers, text }
  }

  async *lines(call: Call): AsyncGenerator<string, void, void> {
    const stream = this.#open(call)
    stream.setEncoding('utf8')
    try {
      yield* splitLines(stream)
    } finally {
      stream.close()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#session.destroy()
  }

  #open(call: Call) {
    const body = bodyOf(call)
    // Open a new connection if necessary. The server closes a connection after a response to an
    // unauthenticated client.
    if (this.#session.closed) this.#session = connect(this.#url, { rejectUnauthorized: false })
    const stream = this.#session.request(
      { ':method': call.method ?? 'GET', ':path': call.path, ...headersOf(call, body) },
      { endStream: body === undefined },
    )
    if (body !== undefined) stream.end(body)
    return stream
  }
}

class Http1Client implements Client {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  call = async (call: Call): Promise<Answer> => {
    const message = await this.#open(call)
    message.setEncoding('utf8')
    return {
      status: message.statusCode ?? 0,
      headers: message.headers,
      text: await readText(message),
    }
  }

  async *lines(call: Call): AsyncGenerator<string, void, void> {
    const message = await this.#open(call)
    message.setEncoding('utf8')
    try {
      yield* splitLines(message)
    } finally {
      message.destroy()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #open(call: Call): Promise<IncomingMessage> {
    const body = bodyOf(call)
    const { hostname, port } = new URL(this.#url)
    return new Promise((resolve, reject) => {
      const options = {
        hostname,
        port,
        path: call.path,
        method: call.method ?? 'GET',
        rejectUnauthorized: false,
      }
      const request = httpsRequest(
        { ...options, headers: headersOf(call, body), agent: false },
        resolve,
      )
      request.on('error', reject)
      // Send the body with one call. With separate calls of write and end, Node would not set the
      // content-length.
      if (body !== undefined) request.write(body)
      request.end()
    })
  }
}

/**
 * Starts one server for all tests of a file. Returns a function for requests over HTTP/2. The tests
 * fail if the server has logged warnings or errors.
 */
export function serverOfFile(args: readonly string[] = []): Client['call'] {
  const parts = new AsyncDisposableStack()
  let server: TestServer | undefined
  let client: Client | undefined
  before(async () => {
    server = parts.use(await startTestServer(args))
    client = parts.use(new Http2Client(server.url))
  })
  after(async () => {
    await parts.disposeAsync()
    assert.deepEqual(server?.complaints, [])
  })
  return (call) => {
    assert.ok(client, 'calls are made by tests')
    return client.call(call)
  }
}

async function readText(chunks: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const chunk of chunks) text += chunk
  return text
}

async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

const bodyOf = ({ body }: Call): Buffer | undefined =>
  body === undefined ? undefined : Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))

function headersOf(call: Call, body: Buffer | undefined): { [name: string]: string } {
  const { token = adminToken } = call
  return {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(body === undefined || call.hidesLength ? {} : { 'content-length': `${body.length}` }),
    ...call.headers,
  }
}
