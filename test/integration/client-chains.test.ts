/**
 * Tests which client certificates are accepted, with real chains over real sockets: restrictions of
 * authorities (usages, path length, names), intermediates as trust anchors, resumed sessions, and
 * renewed serving certificates.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { request } from 'node:https'
import { after, before, describe, test } from 'node:test'
import { connect, type SecureVersion, type TLSSocket } from 'node:tls'
import type { Handler } from '../../src/api/request.ts'
import { createAuthenticate } from '../../src/access/authentication/authenticate.ts'
import { createVerifyCertificate } from '../../src/access/authentication/client-certificate.ts'
import { AuthenticationMetrics } from '../../src/access/authentication/metrics.ts'
import { unknownToken } from '../../src/access/authentication/token-authenticator.ts'
import { Listener } from '../../src/net/http/listener.ts'
import { systemClock } from '../../src/lib/time/clock.ts'
import { silent } from '../../src/lib/telemetry/log.ts'
import { Metrics } from '../../src/lib/telemetry/metrics.ts'
import { createSelfSigned } from '../../src/lib/x509/certificates.ts'
import {
  authorityExtensions,
  CertificateTree,
  type TreeCertificate,
} from '../support/harness/certificate-tree.ts'

const tree = new CertificateTree()
after(() => tree[Symbol.dispose]())
const clientAuth = 'extendedKeyUsage=clientAuth'
const authority = (name: string, by?: TreeCertificate, ...extensions: string[]): TreeCertificate =>
  tree.make(name, {
    ...(by === undefined ? {} : { by }),
    extensions: [...authorityExtensions, ...extensions],
  })
const leaf = (name: string, by: TreeCertificate, ...extensions: string[]): TreeCertificate =>
  tree.make(name, {
    by,
    subject: `/O=system:masters/CN=${name}`,
    extensions: [clientAuth, ...extensions],
  })

const root = authority('root')
const plain = authority('plain', root)
const serverOnly = authority('server-only', root, 'extendedKeyUsage=serverAuth')
const noMore = tree.make('no-more', {
  by: root,
  extensions: ['basicConstraints=critical,CA:true,pathlen:0', 'keyUsage=critical,keyCertSign'],
})
const below = authority('below', noMore)
const named = authority('named', root, 'nameConstraints=critical,permitted;DNS:.inside.example')
const noAuthority = tree.make('no-authority', {
  by: root,
  extensions: ['basicConstraints=critical,CA:false'],
})

const clock = { aheadMs: 0 }
const seen: string[] = []
const authenticate = createAuthenticate({
  authenticateToken: () => unknownToken,
  verifyCertificate: createVerifyCertificate({
    faultOf: ({ isVerified, fault }) => (isVerified ? undefined : fault),
    parsesUid: true,
    wallMs: () => Date.now() + clock.aheadMs,
    lifetimes: { observe: () => undefined },
  }),
  anonymous: { isEnabled: true, paths: [] },
  metrics: new AuthenticationMetrics(new Metrics()),
  clock: systemClock,
  log: silent,
})
const handler: Handler = async (http) => {
  let name: string
  try {
    name = (await authenticate(http, { warn: () => undefined }, 0)).user.name
  } catch {
    name = 'refused'
  }
  seen.push(name)
  return { status: 200, headers: {}, body: Buffer.from(name) }
}

const start = async (anchors: readonly TreeCertificate[]): Promise<Listener> => {
  const serving = createSelfSigned('server', ['127.0.0.1'], Date.now())
  const clientCaPem = anchors.map(({ certificatePem }) => certificatePem).join('')
  const listener = new Listener({ handler, log: silent, tls: { ...serving, clientCaPem } })
  await listener.listen(0, '127.0.0.1')
  return listener
}

type KeyPair = { readonly cert: string; readonly key: string }
const shown = (own: TreeCertificate, ...sent: readonly TreeCertificate[]): KeyPair => ({
  cert: [own, ...sent].map(({ certificatePem }) => certificatePem).join(''),
  key: own.keyPem,
})

/**
 * Returns the user as which the server authenticates the client. Checks that the user is the same
 * over HTTP/1.1 and HTTP/2.
 */
async function taken({ port }: Listener, client: KeyPair): Promise<string> {
  seen.length = 0
  const options = { host: '127.0.0.1', port, ...client, rejectUnauthorized: false }
  const asked = request({ ...options, agent: false }).end()
  const [answer] = await once(asked, 'response')
  answer.resume()
  await once(answer, 'end')
  const session = connectHttp2(`https://127.0.0.1:${port}`, {
    ...client,
    rejectUnauthorized: false,
  })
  const stream = session.request({ ':path': '/' }).resume()
  await once(stream, 'end')
  session.destroy()
  assert.equal(seen.length, 2)
  assert.equal(seen[0], seen[1], 'HTTP/1.1 and HTTP/2 agree')
  return seen[0] ?? ''
}

const outside = (name: string, alternative: string): KeyPair =>
  shown(leaf(name, named, `subjectAltName=${alternative}`), named)
const foreign = (): KeyPair =>
  shown(leaf('n', tree.make('other', { subject: '/CN=root', extensions: authorityExtensions })))

describe('chains of client certificates are verified', () => {
  let listener: Listener
  before(async () => {
    listener = await start([root])
  })
  after(() => listener[Symbol.asyncDispose]())

  const cases: readonly [string, string, () => KeyPair][] = [
    ['issued by the root', 'a', () => shown(leaf('a', root))],
    ['issued by an intermediate', 'b', () => shown(leaf('b', plain), plain)],
    ['issued by an intermediate that was not sent', 'refused', () => shown(leaf('c', plain))],
    [
      'issued by an intermediate for servers only',
      'refused',
      () => shown(leaf('d', serverOnly), serverOnly),
    ],
    [
      'issued by an authority that exceeds a path length',
      'refused',
      () => shown(leaf('e', below), below, noMore),
    ],
    ['issued at the limit of a path length', 'f', () => shown(leaf('f', noMore), noMore)],
    [
      'with a name outside of the name constraints',
      'refused',
      () => outside('g', 'DNS:a.outside.example'),
    ],
    ['with a name within the name constraints', 'h', () => outside('h', 'DNS:a.inside.example')],
    [
      'issued by a certificate that is not an authority',
      'refused',
      () => shown(leaf('i', noAuthority), noAuthority),
    ],
    [
      'for servers only',
      'refused',
      () => shown(tree.make('j', { by: root, extensions: ['extendedKeyUsage=serverAuth'] })),
    ],
    [
      'without usages',
      'k',
      () => shown(tree.make('k', { by: root, extensions: ['basicConstraints=CA:false'] })),
    ],
    [
      'that has expired',
      'refused',
      () => shown(tree.make('l', { by: root, extensions: [clientAuth], endsInMs: -1000 })),
    ],
    ['that is self-signed', 'refused', () => shown(tree.make('m', { extensions: [clientAuth] }))],
    ['issued by another root with the same name', 'refused', () => foreign()],
  ]
  for (const [what, wanted, client] of cases) {
    test(`the user of a client certificate ${what} is ${wanted}`, async () =>
      assert.equal(await taken(listener, client()), wanted))
  }
})

test('an intermediate certificate can be the only trusted CA for client certificates', async () => {
  await using listener = await start([plain])
  assert.equal(await taken(listener, shown(leaf('o', plain))), 'o')
  assert.equal(await taken(listener, shown(leaf('p', plain), plain)), 'p')
  assert.equal(await taken(listener, shown(leaf('q', root))), 'refused')
  assert.equal(await taken(listener, shown(leaf('r', noMore), noMore)), 'refused')
})

test('a client certificate that expires during a connection is no longer accepted', async () => {
  await using listener = await start([root])
  const client = { ...shown(leaf('s', root)), rejectUnauthorized: false }
  const session = connectHttp2(`https://127.0.0.1:${listener.port}`, client)
  const now = async (): Promise<string | undefined> => {
    await once(session.request({ ':path': '/' }).resume(), 'end')
    return seen.at(-1)
  }
  assert.equal(await now(), 's')
  clock.aheadMs = 25 * 3_600_000
  assert.equal(await now(), 'refused')
  clock.aheadMs = 0
  assert.equal(await now(), 's')
  session.destroy()
})

type Visit = KeyPair & {
  readonly session?: Buffer
  readonly maxVersion: SecureVersion
  readonly port: number
}

/**
 * Sends one request on a new connection. Returns the TLS session, with which another connection can
 * be resumed.
 */
async function visitWith(options: Visit) {
  const socket = connect({ ...options, host: '127.0.0.1', rejectUnauthorized: false })
  const reported = options.session === undefined ? once(socket, 'session') : [options.session]
  await once(socket, 'secureConnect')
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  const wasResumed = socket.isSessionReused()
  const [next]: Buffer[] = await reported
  await once(socket.resume(), 'close')
  return { next, wasResumed, user: seen.at(-1) }
}

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
  const visit = (listener: Listener, client: KeyPair, session?: Buffer) =>
    visitWith({
      ...client,
      ...(session === undefined ? {} : { session }),
      maxVersion,
      port: listener.port,
    })

  describe(`a TLS session with ${maxVersion} can be resumed`, () => {
    test('a resumed session has the user of the first handshake', async () => {
      await using listener = await start([root])
      for (const [client, user] of [
        [shown(leaf('t', root)), 't'],
        [shown(leaf('u', serverOnly), serverOnly), 'refused'],
      ] as const) {
        const first = await visit(listener, client)
        assert.deepEqual([first.user, first.wasResumed], [user, false])
        const second = await visit(listener, client, first.next)
        assert.deepEqual([second.user, second.wasResumed], [user, true])
      }
    })

    test('a TLS session is not resumed after the certificate of the server was renewed', async () => {
      await using listener = await start([root])
      const client = shown(leaf('v', root))
      const first = await visit(listener, client)
      listener.setCertificate(createSelfSigned('renewed', ['127.0.0.1'], Date.now()))
      const second = await visit(listener, client, first.next)
      assert.deepEqual([second.user, second.wasResumed], ['v', false])
      assert.equal(await taken(listener, shown(leaf('w', serverOnly), serverOnly)), 'refused')
      assert.equal(await taken(listener, shown(leaf('x', plain), plain)), 'x')
    })
  })
}

test('a client cannot change its client certificate within a connection', async () => {
  await using listener = await start([root])
  const { port } = listener
  const options = { host: '127.0.0.1', port, ...shown(leaf('y', root)), rejectUnauthorized: false }
  const socket: TLSSocket = connect({ ...options, maxVersion: 'TLSv1.2' })
  await once(socket, 'secureConnect')
  const failed = once(socket, 'error').then(([error]) => String(error))
  socket.renegotiate({ rejectUnauthorized: false }, () => undefined)
  assert.match(await failed, /no renegotiation/)
})
