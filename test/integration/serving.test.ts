/**
 * Tests how connections and requests are served: certificates by host name, CORS, GOAWAY, shared
 * ports, and a shutdown with Retry-After.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect } from 'node:tls'
import { NodeGraphInformer } from '../../src/access/authorization/node/node-graph-informer.ts'
import { RolesInformer } from '../../src/access/rbac/roles-informer.ts'
import { checkArgs } from '../../src/config/config.ts'
import { silent } from '../../src/lib/telemetry/log.ts'
import { type Certificate, createAuthority, issue } from '../../src/lib/x509/certificates.ts'
import { ConnectedRemotes } from '../../src/request/aggregation/remote-documents.ts'
import { realEnvironment } from '../../src/server/environment.ts'
import { type Server, startServer } from '../../src/server/server.ts'
import {
  END_HEADERS,
  END_STREAM,
  field,
  FRAME,
  frame,
  headersFrame,
  RawHttp2,
  requestFields,
} from '../support/harness/raw-http2.ts'
import { until, WATCHED_MS } from '../support/harness/until.ts'
import { adminToken, type Client, clients } from './support.ts'

type StartedServer = AsyncDisposable & {
  readonly server: Server
  readonly folder: string
  readonly client: Client
}

/** Starts an in-memory server, because these tests store almost nothing. */
async function start(
  flagsIn: (folder: string) => readonly string[] | Promise<readonly string[]>,
  { port = 0, version = 'HTTP/2' } = {},
): Promise<StartedServer> {
  await using parts = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'keelson-serving-'))
  parts.defer(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'tokens.csv'), `${adminToken},admin,admin-uid,system:masters\n`)
  const checked = checkArgs([
    '--store=memory',
    '--bind-address=127.0.0.1',
    `--cert-dir=${folder}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--disable-admission-plugins=ServiceAccount',
    ...(await flagsIn(folder)),
  ])
  if (checked.kind === 'faults') throw new Error(checked.faults.join('\n'))
  const server = parts.use(
    await startServer(
      { ...checked.config, network: { ...checked.config.network, port } },
      realEnvironment(silent),
    ),
  )
  const client = parts.use(clients[version]?.(server.url) ?? assert.fail())
  const owned = parts.move()
  return { server, folder, client, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const nowMs = Date.now()
const authority = createAuthority('serving-ca', nowMs)
const certificateOf = (commonName: string, hosts: readonly string[] = []): Certificate =>
  issue(authority, { commonName, usage: 'server', hosts, nowMs })

async function writePair(
  folder: string,
  name: string,
  { certificatePem, keyPem }: Certificate,
): Promise<string> {
  const [certificate, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)]
  await writeFile(certificate, certificatePem)
  await writeFile(key, keyPem)
  return `${certificate},${key}`
}

/** Returns the common name of the certificate that a client gets for this host. */
function shownTo(url: string, servername: string): Promise<string | undefined> {
  const socket = connect({
    host: '127.0.0.1',
    port: Number(new URL(url).port),
    servername,
    rejectUnauthorized: false,
  })
  return new Promise((resolve, reject) => {
    socket.once('error', reject).once('secureConnect', () => {
      const { CN } = socket.getPeerCertificate().subject
      socket.destroy()
      resolve(Array.isArray(CN) ? CN[0] : CN)
    })
  })
}

test('a client receives the certificate for its host name, and a renewed one when the file changes', async () => {
  await using started = await start(async (folder) => [
    `--tls-sni-cert-key=${await writePair(folder, 'own', certificateOf('own.example.org', ['alt.example.org']))}`,
    `--tls-sni-cert-key=${await writePair(folder, 'given', certificateOf('given', ['named.example.org', 'x.wild.example.org', 'localhost']))}:API.example.org,*.wild.example.org`,
    `--tls-sni-cert-key=${await writePair(folder, 'late', certificateOf('late'))}:api.example.org,own.example.org`,
  ])
  const { url } = started.server
  const other = await shownTo(url, 'nobody.example.org')
  assert.notEqual(other, undefined)
  for (const [name, common] of [
    ['own.example.org', 'late'],
    ['alt.example.org', 'own.example.org'],
    ['api.example.org', 'given'],
    ['Api.Example.Org', 'given'],
    ['a.wild.example.org', 'given'],
    ['a.b.wild.example.org', other],
    ['wild.example.org', other],
    // The server selects this certificate for the names that it contains. This does not apply to
    // names that the server's own certificate also contains.
    ['named.example.org', 'given'],
    ['localhost', other],
  ] as const) {
    assert.equal(await shownTo(url, name), common, name)
  }
  await writePair(started.folder, 'given', certificateOf('renewed'))
  await until(
    async () => (await shownTo(url, 'api.example.org')) === 'renewed',
    'the certificate is reloaded',
    WATCHED_MS,
  )
  assert.equal(await shownTo(url, 'alt.example.org'), 'own.example.org')
})

test('only browsers on allowed sites get CORS headers, and all other requests are served without these headers', async () => {
  await using started = await start(() => [
    '--cors-allowed-origins=//ok\\.example\\.org(:|$),^https://(a|b)\\.test$',
  ])
  const { client } = started
  const allowedTo = async (origin: string, method = 'GET', token: string | null = adminToken) => {
    const { status, headers, text } = await client.call({
      method,
      path: '/version',
      token,
      headers: { origin },
    })
    return { status, text, origin: headers['access-control-allow-origin'], headers }
  }
  const preflight = await allowedTo('https://ok.example.org:8443', 'OPTIONS', null)
  assert.deepEqual([preflight.status, preflight.text], [204, ''])
  const { headers } = preflight
  assert.equal(headers['access-control-allow-origin'], 'https://ok.example.org:8443')
  assert.equal(headers['access-control-allow-methods'], 'POST, GET, OPTIONS, PUT, DELETE, PATCH')
  assert.match(headers['access-control-allow-headers'] ?? '', /Authorization/)
  assert.equal(headers['access-control-allow-credentials'], 'true')
  assert.equal(headers['access-control-expose-headers'], 'Date')
  assert.equal(headers['content-length'], undefined)
  assert.ok(headers['audit-id'])
  assert.equal((await allowedTo('https://a.test')).origin, 'https://a.test')
  const unknown = await allowedTo('https://a.test', 'GET', 'nobody')
  assert.deepEqual([unknown.status, unknown.origin], [401, 'https://a.test'])
  for (const origin of [
    'https://ok.example.org.evil.test',
    'https://c.test',
    'null',
    `https://${'a'.repeat(9000)}.test`,
  ]) {
    const refused = await allowedTo(origin)
    assert.deepEqual([refused.status, refused.origin], [200, undefined], origin.slice(0, 40))
    assert.notEqual((await allowedTo(origin, 'OPTIONS')).status, 204, origin.slice(0, 40))
  }
})

test('HTTP/2 clients occasionally receive GOAWAY, and their running requests continue', async () => {
  await using started = await start(() => ['--goaway-chance=0.02'])
  const session = connectHttp2(started.server.url, { rejectUnauthorized: false })
  try {
    let codes: number[] = []
    session.on('goaway', (code) => (codes = [...codes, code]))
    const open = (path: string) =>
      session.request({ ':path': path, authorization: `Bearer ${adminToken}` })
    const watch = open('/api/v1/namespaces?watch=1')
    await new Promise((resolve) => watch.once('data', resolve))
    let count = 0
    while (!session.closed) {
      const stream = open('/version').resume()
      stream.on('error', () => undefined)
      await new Promise((resolve) => stream.once('close', resolve))
      assert.ok(++count < 5000, 'one in fifty')
    }
    assert.deepEqual(codes, [0])
    await started.client.call({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { metadata: { name: 'later' } },
    })
    let text = ''
    watch.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    await until(() => text.includes('"later"'), 'the watch continues')
  } finally {
    session.destroy()
  }
})

test('two servers can listen on the same port if both have --permit-port-sharing', async () => {
  await using first = await start(() => ['--permit-port-sharing'])
  const port = Number(new URL(first.server.url).port)
  await using second = await start(() => ['--permit-port-sharing'], { port })
  assert.equal(second.server.url, first.server.url)
  await assert.rejects(async () => {
    await using third = await start(() => [], { port })
    return third
  }, /EADDRINUSE/)
})

for (const version of ['HTTP/2', 'HTTP/1.1']) {
  test(`${version}: with --shutdown-send-retry-after, responses during the shutdown have Retry-After`, async () => {
    await using started = await start(() => ['--shutdown-send-retry-after'], { version })
    const { client, server } = started
    using slow = await RawHttp2.open(Number(new URL(server.url).port))
    const head = [
      field('authorization', `Bearer ${adminToken}`),
      field('content-type', 'application/json'),
    ]
    await slow.send(
      headersFrame(1, requestFields('POST', '/api/v1/namespaces', ...head), END_HEADERS),
    )
    await until(async () => {
      const { text } = await client.call({ path: '/metrics' })
      return /^apiserver_current_inflight_requests\{request_kind="mutating"\} 1$/m.test(text)
    }, 'a request is running')
    const watched = (async () => {
      for await (const _ of client.lines({ path: '/api/v1/namespaces?watch=1' }));
    })()
    await until(async () => {
      const { text } = await client.call({ path: '/metrics' })
      return /^apiserver_longrunning_requests\{.*resource="namespaces".*\} 1$/m.test(text)
    }, 'a watch is running')
    const stopped = server.stop()
    let refused = await client.call({ path: '/version' })
    await until(async () => {
      if (refused.status === 200) refused = await client.call({ path: '/version' })
      return refused.status !== 200
    }, 'requests are refused')
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '5'])
    assert.equal(refused.text, 'The apiserver is shutting down, please try again later.\n')
    assert.equal(refused.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(refused.headers['cache-control'], undefined)
    assert.ok(refused.headers['audit-id'])
    assert.equal(refused.headers.connection, version === 'HTTP/1.1' ? 'close' : undefined)
    assert.equal(
      (await client.call({ path: '/livez' })).status,
      200,
      'health is reported to the end',
    )
    const headers = { 'user-agent': 'kube-apiserver/v1.33.0' }
    assert.equal(
      (await client.call({ path: '/version', headers })).status,
      200,
      'other API servers are served',
    )
    assert.equal((await client.call({ path: '/readyz' })).status, 500)
    await slow.send(frame(FRAME.DATA, END_STREAM, 1, Buffer.from('{"metadata":{"name":"late"}}')))
    const answer = await slow.until(({ type, stream }) => type === FRAME.DATA && stream === 1)
    assert.match(answer?.payload.toString() ?? '', /"name":"late"/)
    await watched
    await stopped
  })
}

test('several workers delete a collection; without the garbage collector, a foreground deletion takes effect immediately', async () => {
  await using started = await start(() => [
    '--delete-collection-workers=7',
    '--enable-garbage-collector=false',
  ])
  const { client } = started
  const path = '/api/v1/namespaces/default/configmaps'
  await until(
    async () => (await client.call({ path: '/api/v1/namespaces/default' })).status === 200,
    'the namespace exists',
  )
  const names = Array.from({ length: 30 }, (_, at) => `one-${at}`)
  for (const name of names)
    await client.call({ method: 'POST', path, body: { metadata: { name } } })
  const foreground = { propagationPolicy: 'Foreground' }
  const one = await client.call({ method: 'DELETE', path: `${path}/one-0`, body: foreground })
  assert.equal(one.status, 200)
  assert.equal((await client.call({ path: `${path}/one-0` })).status, 404)
  const deleted: { items: unknown[] } = JSON.parse(
    (await client.call({ method: 'DELETE', path })).text,
  )
  assert.ok(deleted.items.length >= names.length - 1)
  assert.doesNotMatch((await client.call({ path })).text, /one-/)
})

test('after the start of a server has failed, no further component is started', async ({
  mock,
}) => {
  const roles = Promise.withResolvers<void>()
  mock.method(RolesInformer.prototype, 'start', () => roles.promise)
  const graph = mock.method(NodeGraphInformer.prototype, 'start', async () => undefined)
  const documents = mock.method(ConnectedRemotes.prototype, 'start', async () => undefined)
  const failing = start(async (folder) => {
    await writeFile(join(folder, 'invalid.pem'), 'not a certificate')
    const path = join(folder, 'invalid.pem')
    return [
      '--authorization-mode=Node,RBAC',
      `--tls-cert-file=${path}`,
      `--tls-private-key-file=${path}`,
    ]
  })
  await assert.rejects(failing)
  const countBefore = documents.mock.callCount()
  roles.resolve()
  await nextTurn()
  assert.deepEqual([graph.mock.callCount(), documents.mock.callCount()], [0, countBefore])
})
