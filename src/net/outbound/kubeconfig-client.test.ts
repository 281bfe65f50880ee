import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import { connect, createServer as createPlainServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { TLSSocket } from 'node:tls'
import type { ClientConfig } from './kubeconfig.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { createSelfSigned } from '../../lib/x509/certificates.ts'
import { type Dial, dialDirect } from '../../lib/net/dial.ts'
import { CallError } from './call-error.ts'
import { portOf } from '../../../test/support/harness/port-of.ts'
import { KubeconfigClient } from './kubeconfig-client.ts'

const server = createSelfSigned('reviewer', ['127.0.0.1', 'localhost'], Date.now())
const client = createSelfSigned('keelson', [], Date.now())
const renewed = createSelfSigned('keelson', [], Date.now())

type StartedServer = {
  readonly url: string
  readonly seen: readonly IncomingMessage[]
} & AsyncDisposable

async function start(
  answer: RequestListener,
  options: ServerOptions | null = {},
): Promise<StartedServer> {
  const seen: IncomingMessage[] = []
  const take: RequestListener = (request, response) => {
    seen.push(request)
    answer(request, response)
  }
  const { certificatePem: cert, keyPem: key } = server
  const started =
    options === null ? createServer(take) : createTlsServer({ cert, key, ...options }, take)
  started.listen(0, '127.0.0.1')
  await once(started, 'listening')
  const address = started.address()
  assert.ok(typeof address === 'object' && address !== null)
  return {
    url: `${options === null ? 'http' : 'https'}://127.0.0.1:${address.port}/review`,
    seen,
    async [Symbol.asyncDispose]() {
      started.closeAllConnections()
      started.close()
      await once(started, 'close')
    },
  }
}

const configOf = (url: string, more: Partial<ClientConfig> = {}): ClientConfig => ({
  server: url,
  tlsServerName: '',
  isInsecure: false,
  certificateAuthority: server.certificatePem,
  proxyUrl: '',
  credentials: { kind: 'none' },
  clientCertificate: null,
  impersonate: null,
  ...more,
})

const clientOf = (
  url: string,
  more?: Partial<ClientConfig>,
  timeoutMs = 10_000,
): KubeconfigClient => new KubeconfigClient(configOf(url, more), { timeoutMs })

const ok = (_: IncomingMessage, response: ServerResponse): void => void response.end('{"ok":true}')

async function failureOf(call: Promise<unknown>): Promise<CallError> {
  try {
    await call
  } catch (error) {
    assert.ok(error instanceof CallError, String(error))
    return error
  }
  throw new Error('the call succeeded')
}

test('a client posts JSON and returns the response body, and reuses its connection', async () => {
  await using hook = await start((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => void pieces.push(piece))
    request.on('end', () => void response.end(Buffer.concat(pieces)))
  })
  using calls = clientOf(hook.url)
  assert.equal(await calls.post('{"a":1}'), '{"a":1}')
  assert.equal(await calls.post('{"a":2}'), '{"a":2}')
  const [first, second] = hook.seen
  assert.equal(first?.socket, second?.socket)
  assert.equal(first?.method, 'POST')
  assert.equal(first?.url, '/review?timeout=10s')
  assert.equal(first?.headers['content-type'], 'application/json')
  assert.equal(first?.headers.authorization, undefined)
})

test('a client sends a token, a user name and password, or the credentials of the URL', async () => {
  await using hook = await start(ok)
  const withUser = (user: string): string => hook.url.replace('https://', `https://${user}@`)
  const cases: [string, Partial<ClientConfig>, string][] = [
    [hook.url, { credentials: { kind: 'token', token: 't1', path: null } }, 'Bearer t1'],
    [hook.url, { credentials: { kind: 'basic', username: 'a', password: 'b' } }, 'Basic YTpi'],
    [withUser('u:p%40'), {}, 'Basic dTpwQA=='],
    [withUser(':p'), {}, 'Basic OnA='],
    [withUser('u:%ff'), {}, `Basic ${Buffer.from('u:\ufffd').toString('base64')}`],
  ]
  for (const [url, more, expected] of cases) {
    using calls = clientOf(url, more)
    await calls.post('{}')
    assert.equal(hook.seen.at(-1)?.headers.authorization, expected)
  }
})

test('a client impersonates the user that the kubeconfig names', async () => {
  await using hook = await start(ok)
  const impersonate = {
    name: 'jane',
    uid: 'u1',
    groups: ['a', 'b'],
    extra: { 'example.com/k': ['x', 'y'] },
  }
  using calls = clientOf(hook.url, { impersonate })
  await calls.post('{}')
  const { headersDistinct } = hook.seen[0] ?? {}
  assert.deepEqual(headersDistinct?.['impersonate-user'], ['jane'])
  assert.deepEqual(headersDistinct?.['impersonate-uid'], ['u1'])
  assert.deepEqual(headersDistinct?.['impersonate-group'], ['a', 'b'])
  assert.deepEqual(headersDistinct?.['impersonate-extra-example.com%2fk'], ['x', 'y'])
})

test('a token file is read again after a minute, and the old token is used if the file cannot be read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-client-'))
  using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
  const path = join(folder, 'token')
  writeFileSync(path, 'first\n')
  let nowMs = 0
  const time = { ...systemTime, monotonicMs: () => nowMs }
  await using hook = await start(ok)
  const credentials = { kind: 'token', token: 'of-start', path } as const
  using calls = new KubeconfigClient(configOf(hook.url, { credentials }), {
    timeoutMs: 10_000,
    time,
  })
  const tokenOfCall = async (): Promise<string | undefined> => {
    await calls.post('{}')
    return hook.seen.at(-1)?.headers.authorization
  }
  assert.equal(await tokenOfCall(), 'Bearer first')
  writeFileSync(path, 'second')
  assert.equal(await tokenOfCall(), 'Bearer first')
  nowMs += 60_000
  assert.equal(await tokenOfCall(), 'Bearer second')
  rmSync(path)
  nowMs += 60_000
  assert.equal(await tokenOfCall(), 'Bearer second')
})

test('a renewed client certificate is used on new connections', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-client-'))
  using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
  const [certificatePath, keyPath] = [join(folder, 'client.crt'), join(folder, 'client.key')]
  const write = ({ certificatePem, keyPem }: typeof client): void => {
    writeFileSync(certificatePath, certificatePem)
    writeFileSync(keyPath, keyPem)
  }
  write(client)
  let nowMs = 0
  const time = {
    ...systemTime,
    monotonicMs: () => nowMs,
    after: (ms: number, run: () => void) => setTimeout(run, ms).unref(),
  }
  await using hook = await start(
    (request, response) => {
      assert.ok(request.socket instanceof TLSSocket)
      response.end(request.socket.getPeerX509Certificate()?.serialNumber)
    },
    { requestCert: true, rejectUnauthorized: false },
  )
  const clientCertificate = { kind: 'files', certificatePath, keyPath } as const
  using calls = new KubeconfigClient(configOf(hook.url, { clientCertificate }), {
    timeoutMs: 10_000,
    time,
  })
  const first = await calls.post('{}')
  write({ ...client, certificatePem: renewed.certificatePem })
  assert.equal(await calls.post('{}'), first)
  nowMs += 60_000
  assert.equal(await calls.post('{}'), first, 'half of a renewed pair is not used')
  write(renewed)
  assert.notEqual(await calls.post('{}'), first, 'a whole renewed pair is used')
})

test('a call fails without being sent if too many calls are in progress', async () => {
  const { promise: until, resolve: go } = Promise.withResolvers<void>()
  await using hook = await start(
    (request, response) => void until.then(() => ok(request, response)),
    null,
  )
  using calls = clientOf(hook.url)
  const first = Array.from({ length: 2_000 }, () => calls.post('{}'))
  const { failure, message } = await failureOf(calls.post('{}'))
  assert.equal(failure, 'busy')
  assert.match(message, /^Post ".*": too many calls are under way$/)
  assert.match((await failureOf(calls.get())).message, /^Get "/)
  go()
  await Promise.all(first)
  assert.equal(await calls.post('{}'), '{"ok":true}')
})

test('a call that gets no connection in time fails as busy, and not as a timeout of the called server', async () => {
  const { promise: until, resolve: go } = Promise.withResolvers<void>()
  await using hook = await start(
    (request, response) => void until.then(() => ok(request, response)),
    null,
  )
  using calls = clientOf(hook.url, {}, 200)
  const failures = await Promise.all(
    Array.from({ length: 70 }, async () => (await failureOf(calls.post('{}'))).failure),
  )
  assert.equal(failures.filter((failure) => failure === 'timeout').length, 64)
  assert.equal(failures.filter((failure) => failure === 'busy').length, 6)
  go()
})

test('a waiting call fails immediately when its signal is aborted', async () => {
  const { promise: until, resolve: go } = Promise.withResolvers<void>()
  await using hook = await start(
    (request, response) => void until.then(() => ok(request, response)),
    null,
  )
  using calls = clientOf(hook.url)
  const first = Array.from({ length: 64 }, () => calls.post('{}'))
  assert.equal((await failureOf(calls.post('{}', AbortSignal.timeout(50)))).failure, 'canceled')
  go()
  await Promise.all(first)
})

test('a server certificate of an unknown CA is rejected, unless verification is disabled', async () => {
  await using hook = await start(ok)
  using strict = clientOf(hook.url, { certificateAuthority: client.certificatePem })
  const { message, failure } = await failureOf(strict.post('{}'))
  assert.match(
    message,
    /^Post "https:.*\?timeout=10s": tls: failed to verify certificate: x509: certificate signed by/,
  )
  assert.equal(failure, 'other')
  using lax = clientOf(hook.url, { certificateAuthority: '', isInsecure: true })
  assert.equal(await lax.post('{}'), '{"ok":true}')
})

test('the server certificate is verified for tls-server-name', async () => {
  await using hook = await start(ok)
  using right = clientOf(hook.url, { tlsServerName: 'localhost' })
  assert.equal(await right.post('{}'), '{"ok":true}')
  using wrong = clientOf(hook.url, { tlsServerName: 'other.example' })
  await failureOf(wrong.post('{}'))
})

test('a client can also call servers without TLS', async () => {
  await using hook = await start(ok, null)
  using calls = clientOf(hook.url)
  assert.equal(await calls.post('{}'), '{"ok":true}')
})

test('a client calls the server through the configured proxy', async () => {
  await using hook = await start(ok)
  const asked: string[] = []
  const proxy = createServer().on('connect', (request: IncomingMessage, socket) => {
    asked.push(request.url ?? '')
    const [host = '', port = ''] = (request.url ?? '').split(':')
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const address = proxy.address()
  assert.ok(typeof address === 'object' && address !== null)
  using calls = clientOf(hook.url, { proxyUrl: `http://127.0.0.1:${address.port}` })
  assert.equal(await calls.post('{}'), '{"ok":true}')
  assert.deepEqual(asked, [new URL(hook.url).host])
  calls[Symbol.dispose]()
  proxy.close()
})

/**
 * Starts a proxy that opens tunnels, and that responds to all other requests itself. `asked`
 * records the requests and the proxy credentials in them.
 */
async function startProxy(status = 200) {
  const asked: (string | undefined)[][] = []
  const note = ({ method, url, headers }: IncomingMessage): number =>
    asked.push([method, url, headers.host, headers['proxy-authorization']])
  const proxy = createServer((request, response) => {
    note(request)
    response.end('{"relayed":true}')
  }).on('connect', (request: IncomingMessage, socket) => {
    note(request)
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No Way\r\n\r\n`)
    const { hostname, port } = new URL(`http://${request.url ?? ''}`)
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.on('error', () => onward.destroy()).on('close', () => onward.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    asked,
    port: portOf(proxy),
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}

test('a custom `dial` function is called with the address of the proxy, not that of the server', async () => {
  await using hook = await start(ok)
  await using proxy = await startProxy()
  const dialed: string[] = []
  const dial: Dial = (host, port, signal) => {
    dialed.push(`${host}:${port}`)
    return dialDirect('127.0.0.1', proxy.port, signal)
  }
  const { host } = new URL(hook.url)
  const basic = `Basic ${Buffer.from('me:se cret').toString('base64')}`
  const proxyUrl = 'http://me:se%20cret@proxy.example:3128'
  using calls = new KubeconfigClient(configOf(hook.url, { proxyUrl }), { timeoutMs: 10_000, dial })
  assert.equal(await calls.post('{}'), '{"ok":true}')
  assert.deepEqual(dialed, ['proxy.example:3128'])
  assert.deepEqual(proxy.asked, [['CONNECT', host, host, basic]])
  const plain = configOf('http://hook.example/review', { proxyUrl })
  using relayed = new KubeconfigClient(plain, { timeoutMs: 10_000, dial })
  assert.equal(await relayed.post('{}'), '{"relayed":true}')
  assert.deepEqual(dialed, ['proxy.example:3128', 'proxy.example:3128'])
  const target = 'http://hook.example/review?timeout=10s'
  assert.deepEqual(proxy.asked[1], ['POST', target, 'hook.example', basic])
})

test("if a dialed proxy refuses the tunnel, the error does not reveal the proxy's credentials", async () => {
  await using proxy = await startProxy(407)
  const dial: Dial = (_host, _port, signal) => dialDirect('127.0.0.1', proxy.port, signal)
  const config = configOf('https://hook.example/review', {
    proxyUrl: 'http://me:secret@proxy.example',
  })
  using calls = new KubeconfigClient(config, { timeoutMs: 10_000, dial })
  const { message } = await failureOf(calls.post('{}'))
  assert.match(message, /proxy error from proxy\.example while dialing hook\.example:443, code 407/)
  assert.doesNotMatch(message, /secret/)
})

test('a call fails if the server switches to another protocol', async () => {
  const hook = createPlainServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    )
  })
  hook.listen(0, '127.0.0.1')
  await once(hook, 'listening')
  using calls = clientOf(`http://127.0.0.1:${portOf(hook)}/review`)
  const { message } = await failureOf(calls.post('{}'))
  assert.match(message, /unexpected response: 101 Switching Protocols$/)
  hook.close()
})

test('a call fails when it times out or when its signal is aborted', async () => {
  await using hook = await start(() => undefined)
  using calls = clientOf(hook.url, {}, 200)
  const late = await failureOf(calls.post('{}'))
  assert.equal(late.failure, 'timeout')
  assert.match(
    late.message,
    /timeout=200ms": context deadline exceeded \(Client\.Timeout exceeded while awaiting headers\)$/,
  )
  using patient = clientOf(hook.url)
  const controller = new AbortController()
  const call = failureOf(patient.post('{}', controller.signal))
  controller.abort()
  assert.equal((await call).failure, 'canceled')
})

test('the error of a failed call contains no credentials', async () => {
  using calls = clientOf('https://user:secret@127.0.0.1:1/x', {
    credentials: { kind: 'token', token: 'secret', path: null },
  })
  const { message, failure, status } = await failureOf(calls.post('{}'))
  assert.equal(
    message,
    'Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused',
  )
  assert.deepEqual([failure, status], ['refused', 0])
})

test('an error response is reported with its status, and a response without a body is an error', async () => {
  await using hook = await start((_, response) => void response.writeHead(503).end('busy'))
  using calls = clientOf(hook.url)
  const refused = await failureOf(calls.post('{}'))
  assert.deepEqual([refused.failure, refused.status], ['answered', 503])
  assert.equal(refused.message, 'the server is currently unable to handle the request')
  await using silent = await start((_, response) => void response.end())
  using other = clientOf(silent.url)
  assert.match(
    (await failureOf(other.post('{}'))).message,
    /^0-length response with status code: 200/,
  )
})

test('if the server sends Retry-After, the call is repeated after that time', async () => {
  let calls = 0
  await using hook = await start((_, response) => {
    calls++
    if (calls < 3) response.writeHead(503, { 'retry-after': '4' }).end()
    else response.end('{}')
  })
  const waits: number[] = []
  const after = (ms: number, run: () => void) => {
    if (ms !== 4_000) return setTimeout(run, ms)
    waits.push(ms)
    return setTimeout(run, 0)
  }
  using patient = new KubeconfigClient(configOf(hook.url), {
    timeoutMs: 10_000,
    time: { ...systemTime, after },
  })
  assert.equal(await patient.post('{}'), '{}')
  assert.deepEqual(waits, [4_000, 4_000])
  calls = -9
  assert.equal((await failureOf(patient.post('{}'))).status, 503)
  assert.deepEqual(waits.slice(2), [4_000, 4_000], 'no longer than a call may take')
})

test('a call with an endless response fails', async () => {
  await using hook = await start((_, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write(' '.repeat(1 << 16)));
      response.once('drain', write)
    }
    write()
  })
  using calls = clientOf(hook.url)
  const { failure, message } = await failureOf(calls.post('{}'))
  assert.equal(failure, 'too-large')
  assert.match(message, /: the response is too large$/)
})
