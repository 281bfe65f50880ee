import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createSelfSigned } from '../../lib/x509/certificates.ts'
import { until } from '../../../test/support/harness/until.ts'
import { type GetService, Webhook, WebhookError, type WebhookClientOptions } from './call.ts'
import { ReceivedAnswers } from './received.ts'

const { certificatePem: cert, keyPem: key } = createSelfSigned(
  'hook',
  ['127.0.0.1', 'localhost'],
  Date.now(),
)

const partsOf = (getService: GetService): WebhookClientOptions => ({
  getService,
  received: new ReceivedAnswers(),
})

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}

async function start(
  answer: RequestListener,
  path = '/convert',
): Promise<{ webhook: Webhook; received: ReceivedAnswers } & AsyncDisposable> {
  const server = createTlsServer({ cert, key }, answer)
  const port = await listening(server)
  const url = `https://localhost:${port}${path}`
  const parts = partsOf(() => undefined)
  const webhook = new Webhook({ url, caBundle: Buffer.from(cert).toString('base64') }, 5_000, parts)
  return {
    webhook,
    received: parts.received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const signal = AbortSignal.timeout(20_000)

test('if the webhook closes a reused keep-alive connection, the call is sent again', async () => {
  const used = new WeakMap<Socket, number>()
  let connections = 0
  await using hook = await start((request, response) => {
    const calls = (used.get(request.socket) ?? 0) + 1
    if (calls === 1) connections++
    used.set(request.socket, calls)
    if (calls === 1) response.end('{}')
    else request.socket.destroy()
  })
  for (let call = 0; call < 3; call++) assert.equal(await hook.webhook.post('{}', signal), '{}')
  assert.equal(connections, 3)
})

for (const [written, asked] of Object.entries({
  '//failing': '/failing',
  '/a//b/': '/a/b',
  '/': '/',
  '': '/',
  '//': '/',
})) {
  test(`the path ${JSON.stringify(written)} is requested as ${asked}, as in client-go`, async () => {
    await using hook = await start((request, response) => response.end(request.url), written)
    assert.equal(await hook.webhook.post('{}', signal), `${asked}?timeout=5s`)
  })
}

test('a call that fails on a new connection is not sent again', async () => {
  let calls = 0
  await using hook = await start((request) => {
    calls++
    request.socket.destroy()
  })
  await assert.rejects(hook.webhook.post('{}', signal), WebhookError)
  assert.equal(calls, 1)
})

test('a call fails with a WebhookError if the lookup of its Service fails', async () => {
  const service = { name: 'hook', namespace: 'default' }
  const webhook = new Webhook(
    { service },
    5_000,
    partsOf(() => Promise.reject(new Error('no database'))),
  )
  await assert.rejects(
    webhook.post('{}', signal),
    (error) =>
      error instanceof WebhookError &&
      /^Post "https:\/\/hook\.default\.svc:443.*: no database$/.test(error.message),
  )
})

test('a call to a webhook that does not speak TLS fails', async () => {
  const server = createServer()
  await using _ = { [Symbol.asyncDispose]: async () => void server.close() }
  const webhook = new Webhook(
    { url: `https://localhost:${await listening(server)}/` },
    5_000,
    partsOf(() => undefined),
  )
  await assert.rejects(webhook.post('{}', signal), WebhookError)
})

test('a response in chunks of one byte uses little more memory than its bytes', async () => {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  assert.ok(typeof collect === 'function')
  const usedBytes = (): number => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const pieces = 200_000
  let goOn: (() => void) | undefined
  await using hook = await start(({ socket }) => {
    const body = '1\r\n7\r\n'.repeat(pieces)
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${body}`,
    )
    goOn = () => void socket.end('0\r\n\r\n')
  })
  const before = usedBytes()
  const answer = hook.webhook.post('{}', signal)
  await sleep(1_000)
  const cost = usedBytes() - before
  goOn?.()
  assert.equal(await answer, '7'.repeat(pieces))
  assert.ok(cost < 10_000_000, `${cost} bytes are held`)
})

test('a call with an endless response fails, and its memory is released', async () => {
  await using hook = await start((_, response) => {
    const piece = Buffer.alloc(1 << 20, ' ')
    const write = (): void => {
      while (!response.destroyed && response.write(piece));
      response.once('drain', write)
    }
    write()
  })
  await assert.rejects(
    hook.webhook.post('{}', signal),
    /^WebhookError: Post .*: the response is too large$/,
  )
  await until(() => hook.received.bytes === 0, 'its memory is released')
})

test('a call sends the credentials for its host, and uses a renewed certificate on a new connection', async () => {
  const own = createSelfSigned('first', [], Date.now())
  const renewed = createSelfSigned('second', [], Date.now())
  const seen: unknown[] = []
  const options = { cert, key, requestCert: true, rejectUnauthorized: false }
  const server = createTlsServer(options, ({ socket, headers }, response) => {
    const shown = socket instanceof TLSSocket ? socket.getPeerCertificate().subject.CN : undefined
    seen.push([shown, headers.authorization])
    response.end('{}')
  })
  const port = await listening(server)
  await using stack = new AsyncDisposableStack()
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const asked: unknown[] = []
  let pair = own
  const webhook = new Webhook(
    { url: `https://localhost:${port}/`, caBundle: Buffer.from(cert).toString('base64') },
    5_000,
    {
      ...partsOf(() => undefined),
      credentialsFor: (host, at) => {
        asked.push([host, at])
        return {
          headers: async () => ({ authorization: 'Bearer t' }),
          certificate: async () => ({ cert: pair.certificatePem, key: pair.keyPem }),
        }
      },
    },
  )
  await webhook.post('{}', signal)
  await webhook.post('{}', signal)
  pair = renewed
  await webhook.post('{}', signal)
  assert.deepEqual(asked, [['localhost', port]])
  assert.deepEqual(
    seen,
    ['first', 'first', 'second'].map((name) => [name, 'Bearer t']),
  )
})

test('credentials are looked up by the host as written in the URL, without normalization', () => {
  const asked: string[] = []
  const credentialsFor = (host: string, port: number): undefined =>
    void asked.push(`${host} ${port}`)
  const parts = { ...partsOf(() => undefined), credentialsFor }
  for (const url of [
    'https://Hook.Example.com/x',
    'https://hook.example.com:8443',
    'https://[::1]/',
  ]) {
    const webhook = new Webhook({ url }, 1_000, parts)
    webhook.close()
  }
  assert.deepEqual(asked, ['Hook.Example.com 443', 'hook.example.com 8443', '::1 443'])
})
