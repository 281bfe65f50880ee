import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createSecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { createSelfSigned } from '../../lib/x509/certificates.ts'
import { until } from '../../../test/support/harness/until.ts'
import { Webhook, WebhookError } from './call.ts'
import { Http2Session } from './http2-session.ts'
import { ReceivedAnswers } from './received.ts'

const { certificatePem: cert, keyPem: key } = createSelfSigned(
  'hook',
  ['127.0.0.1', 'localhost'],
  Date.now(),
)

type Answer = (stream: ServerHttp2Stream, body: string, path: string) => void

/** Starts a webhook that accepts only HTTP/2. `sessions` contains the connections so far. */
async function start(
  answer: Answer,
  { host = '127.0.0.1', streamsMax = 100, timeoutMs = 20_000 } = {},
): Promise<
  {
    webhook: Webhook
    sessions: ServerHttp2Session[]
    received: ReceivedAnswers
    port: number
  } & AsyncDisposable
> {
  const sessions: ServerHttp2Session[] = []
  const server = createSecureServer({ cert, key, settings: { maxConcurrentStreams: streamsMax } })
  server.on('session', (session) => {
    sessions.push(session)
    session.on('error', () => undefined)
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    text(stream).then(
      (body) => answer(stream, body, headers[':path'] ?? ''),
      () => undefined,
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const received = new ReceivedAnswers()
  const clientConfig = {
    url: `https://${host}:${address.port}/hook`,
    caBundle: Buffer.from(cert).toString('base64'),
  }
  const webhook = new Webhook(clientConfig, timeoutMs, { getService: () => undefined, received })
  return {
    webhook,
    sessions,
    received,
    port: address.port,
    async [Symbol.asyncDispose]() {
      webhook.close()
      for (const session of sessions) session.destroy()
      server.close()
    },
  }
}

const echo: Answer = (stream, body) => {
  stream.respond({ ':status': 200, 'content-type': 'application/json' })
  stream.end(body)
}

const within = (ms = 60_000): AbortSignal => AbortSignal.timeout(ms)

test('concurrent calls to a webhook share one connection', async () => {
  const paths = new Set<string>()
  await using hook = await start((stream, body, path) => {
    paths.add(path)
    echo(stream, body, path)
  })
  const bodies = Array.from(
    { length: 60 },
    (_, at) => `{"at":${at},"long":"${'x'.repeat(at * 5_000)}"}`,
  )
  assert.deepEqual(
    await Promise.all(bodies.map((body) => hook.webhook.post(body, within()))),
    bodies,
  )
  assert.equal(hook.sessions.length, 1)
  assert.deepEqual([...paths], ['/hook?timeout=20s'])
  assert.equal(hook.received.bytes, 0)
})

test('more connections are opened when the webhook has no free streams', async () => {
  const held: (() => void)[] = []
  let isHeld = false
  await using hook = await start(
    (stream, body, path) => {
      if (isHeld) held.push(() => echo(stream, body, path))
      else echo(stream, body, path)
    },
    { streamsMax: 10 },
  )
  await hook.webhook.post('{}', within())
  isHeld = true
  const answered = Promise.all(Array.from({ length: 25 }, () => hook.webhook.post('{}', within())))
  await until(() => held.length === 25, 'all calls are in progress')
  for (const answer of held) answer()
  await answered
  assert.equal(hook.sessions.length, 3)
})

test('a call succeeds even if the webhook has closed the idle connection', async () => {
  await using hook = await start(echo)
  for (const end of ['close', 'goaway', 'destroy'] as const) {
    await hook.webhook.post('{}', within())
    hook.sessions.at(-1)?.[end]()
    assert.equal(await hook.webhook.post('{}', within()), '{}', end)
  }
  assert.equal(hook.sessions.length, 4)
})

test('the number of attempts is limited for a webhook that refuses every stream', async () => {
  let calls = 0
  await using hook = await start((stream) => {
    calls++
    stream.close(7)
  })
  await assert.rejects(hook.webhook.post('{}', within()), WebhookError)
  assert.ok(calls <= 3, `${calls} calls`)
})

test('a call with an endless slow response fails at its timeout, and its connection is reused', async () => {
  let isSilent = true
  await using hook = await start((stream, body, path) => {
    if (!isSilent) return echo(stream, body, path)
    stream.respond({ ':status': 200 })
    const timer = setInterval(() => stream.write(' '), 20)
    stream.on('close', () => clearInterval(timer))
  })
  await assert.rejects(hook.webhook.post('{}', within(2_000)), /context deadline exceeded/)
  isSilent = false
  assert.equal(await hook.webhook.post('{}', within()), '{}')
  assert.equal(hook.sessions.length, 1, 'the connection is kept')
})

test('a connection is not reused after a call during which it received nothing', async () => {
  let isSilent = true
  await using hook = await start((stream, body, path) => {
    if (!isSilent) echo(stream, body, path)
  })
  isSilent = false
  await hook.webhook.post('{}', within())
  isSilent = true
  await assert.rejects(hook.webhook.post('{}', within(300)), /context deadline exceeded/)
  isSilent = false
  assert.equal(await hook.webhook.post('{}', within()), '{}')
  assert.equal(hook.sessions.length, 2)
})

test('a call with an endless response fails, and its memory is released', async () => {
  await using hook = await start((stream) => {
    stream.respond({ ':status': 200 })
    const piece = Buffer.alloc(1 << 20, ' ')
    const write = (): void => {
      while (!stream.destroyed && stream.write(piece));
      stream.once('drain', write)
    }
    write()
  })
  await assert.rejects(hook.webhook.post('{}', within()), /the response is too large/)
  await until(() => hook.received.bytes === 0, 'its memory is released')
})

test('an idle connection is closed', async () => {
  await using hook = await start(echo, { timeoutMs: 300 })
  await hook.webhook.post('{}', within())
  await until(() => hook.sessions[0]?.destroyed === true, 'it is closed')
  assert.equal(await hook.webhook.post('{}', within()), '{}')
})

test('if a webhook accepts no streams, the call fails and no second connection is opened', async () => {
  await using hook = await start(echo, { streamsMax: 0 })
  await assert.rejects(hook.webhook.post('{}', within()), /no streams/)
  await until(() => hook.sessions.every(({ destroyed }) => destroyed), 'it is closed')
  assert.equal(hook.sessions.length, 1)
})

test('a call fails if the length of the response differs from its content-length', async () => {
  for (const length of ['1', '3', '2, 2', '-2']) {
    await using hook = await start((stream) => {
      stream.respond({
        ':status': 200,
        'content-type': 'application/json',
        'content-length': length,
      })
      stream.end('{}')
    })
    await assert.rejects(hook.webhook.post('{}', within()), /unexpected EOF/, length)
  }
})

test('a call succeeds if the length of the response matches its content-length', async () => {
  await using hook = await start((stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/json', 'content-length': '2' })
    stream.end('{}')
  })
  assert.equal(await hook.webhook.post('{}', within()), '{}')
})

const fail = (): never => {
  throw new Error('the data of the peer is invalid')
}

test('when the listener of a stream throws an error, only that stream ends, and the connection continues', async () => {
  await using hook = await start(echo)
  const socket = connect({ port: hook.port, host: '127.0.0.1', ca: cert, ALPNProtocols: ['h2'] })
  await once(socket, 'secureConnect')
  const session = new Http2Session(socket, 60_000)
  await session.ready
  const fields = [':method', 'POST', ':scheme', 'https', ':authority', 'localhost', ':path', '/']
  /**
   * Sends a request, and returns the names of the events of its stream, followed by the code with
   * which the stream was closed.
   */
  const ask = (broken: 'onHead' | 'onData' | undefined): Promise<string> =>
    new Promise((resolve) => {
      let reported = ''
      assert.ok(session.acquire())
      const listener = {
        onHead: () => void (reported += 'head '),
        onData: (chunk: Buffer) => void (reported += `${String(chunk)} `),
        onTrailers: () => undefined,
        onClose: (code: number) => resolve(`${reported}${code}`),
      }
      session
        .request(fields, broken === undefined ? listener : { ...listener, [broken]: fail })
        .end([Buffer.from('a')])
    })
  const slow = ask(undefined)
  assert.deepEqual(await Promise.all([ask('onHead'), ask('onData'), slow]), [
    '2',
    'head 2',
    'head a 0',
  ])
  assert.equal(await ask(undefined), 'head a 0')
  assert.equal(hook.sessions.length, 1)
  session.close()
})
