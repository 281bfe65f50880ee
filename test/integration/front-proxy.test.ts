/**
 * Tests a front proxy, which names users in request headers. Only a proxy with a certificate of the
 * configured authority may do so, and no client can bypass the proxy.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Authority, type IssuedCertificate } from '../support/harness/issued-certificate.ts'
import { until, WATCHED_MS } from '../support/harness/until.ts'
import { adminToken, startTestServer, type TestServer } from './support.ts'

const clients = new Authority('clients')
const proxies = new Authority('proxies')
const others = new Authority('others')

let dir = ''
let server: TestServer

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-proxies-'))
  await writeFile(join(dir, 'clients.pem'), clients.certificatePem)
  await writeFile(join(dir, 'proxies.pem'), proxies.certificatePem)
  server = await startTestServer([
    `--client-ca-file=${join(dir, 'clients.pem')}`,
    `--requestheader-client-ca-file=${join(dir, 'proxies.pem')}`,
    '--requestheader-allowed-names=proxy',
    '--requestheader-username-headers=X-Remote-User,X-Login',
    '--requestheader-uid-headers=X-Remote-Uid',
    '--requestheader-group-headers=X-Remote-Group,Teams',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  ])
})
after(async () => {
  await server[Symbol.asyncDispose]()
  assert.deepEqual(server.complaints, [])
  await rm(dir, { recursive: true, force: true })
})

type Headers = { readonly [name: string]: string | string[] }
type RequestOptions = {
  readonly certificate?: IssuedCertificate
  readonly headers?: Headers
  readonly path?: string
}
type HttpResult = { readonly status: number; readonly text: string }

const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const usual = { 'content-type': 'application/json' }

function overHttp1({
  certificate,
  headers = {},
  path = review,
}: RequestOptions): Promise<HttpResult> {
  const { hostname, port } = new URL(server.url)
  const shown =
    certificate === undefined ? {} : { cert: certificate.certificatePem, key: certificate.keyPem }
  const method = path === review ? 'POST' : 'GET'
  return new Promise((resolve, reject) => {
    const options = {
      hostname,
      port,
      path,
      method,
      rejectUnauthorized: false,
      agent: false,
      ...shown,
    }
    const request = httpsRequest({ ...options, headers: { ...usual, ...headers } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.on('error', reject).end(path === review ? '{}' : undefined)
  })
}

async function overHttp2({
  certificate,
  headers = {},
  path = review,
}: RequestOptions): Promise<HttpResult> {
  const shown =
    certificate === undefined ? {} : { cert: certificate.certificatePem, key: certificate.keyPem }
  const session = connectHttp2(server.url, { rejectUnauthorized: false, ...shown })
  try {
    return await new Promise<HttpResult>((resolve, reject) => {
      session.on('error', reject)
      const stream = session.request({
        ':method': path === review ? 'POST' : 'GET',
        ':path': path,
        ...usual,
        ...headers,
      })
      let [status, text] = [0, '']
      stream.on('response', (answer) => (status = Number(answer[':status'])))
      stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      stream.on('end', () => resolve({ status, text })).on('error', reject)
      stream.end(path === review ? '{}' : undefined)
    })
  } finally {
    session.destroy()
  }
}

const proxy = proxies.issue({ cn: 'proxy' })
const jane = { 'x-remote-user': 'jane' }

for (const [protocol, call] of [
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
] as const) {
  const whoami = async (sent: RequestOptions): Promise<unknown> => {
    const { status, text } = await call(sent)
    if (status === 201) return JSON.parse(text).status.userInfo
    return status === 403 && text.includes('system:anonymous') ? 'anonymous' : status
  }

  describe(protocol, () => {
    test('the headers of a front proxy determine the user', async () => {
      const headers = {
        ...jane,
        'X-Remote-Uid': 'u1',
        'X-Remote-Group': ['a, b', 'c'],
        Teams: ['d', 'e'],
        'X-Remote-Extra-Example.org%2Fscope': ['1', '2'],
      }
      assert.deepEqual(await whoami({ certificate: proxy, headers }), {
        username: 'jane',
        uid: 'u1',
        groups: ['a, b', 'c', 'd', 'e', 'system:authenticated'],
        extra: { 'example.org/scope': ['1', '2'] },
      })
      const { username } = Object(
        await whoami({ certificate: proxy, headers: { 'x-login': 'joe' } }),
      )
      assert.equal(username, 'joe')
    })

    test('the headers of a front proxy take precedence over a token in the same request', async () => {
      const headers = { ...jane, authorization: `Bearer ${adminToken}` }
      const { username, groups } = Object(await whoami({ certificate: proxy, headers }))
      assert.deepEqual([username, groups], ['jane', ['system:authenticated']])
    })

    test('a request of a front proxy that does not name a user is rejected', async () => {
      assert.equal(await whoami({ certificate: proxy }), 401)
      assert.equal(
        await whoami({ certificate: proxy, headers: { 'x-remote-group': 'system:masters' } }),
        401,
      )
    })

    const masters = {
      ...jane,
      'x-remote-group': 'system:masters',
      'x-remote-extra-a': 'b',
      'x-login': 'joe',
    }

    test('attack: identity headers in a request without a client certificate are ignored', async () => {
      assert.equal(await whoami({ headers: masters }), 'anonymous')
    })

    test('attack: identity headers in a request with a token are ignored', async () => {
      const headers = { ...masters, authorization: 'Bearer bob-token' }
      const { username, groups } = Object(await whoami({ headers }))
      assert.deepEqual([username, groups], ['bob', ['system:authenticated']])
    })

    test('attack: identity headers in a request with the client certificate of a user are ignored', async () => {
      const certificate = clients.issue({ cn: 'proxy' })
      const { username, groups } = Object(await whoami({ certificate, headers: masters }))
      assert.deepEqual([username, groups], ['proxy', ['system:authenticated']])
    })

    test('attack: a proxy certificate with the wrong name, authority, usage or validity is rejected', async () => {
      const sameName = new Authority('proxies')
      for (const certificate of [
        proxies.issue({ cn: 'other' }),
        proxies.issue({ cn: 'Proxy' }),
        proxies.issue({}),
        others.issue({ cn: 'proxy' }),
        sameName.issue({ cn: 'proxy' }),
        proxies.issue({ cn: 'proxy', usage: ['server'] }),
        proxies.issue({ cn: 'proxy', beginsIn: -7200, endsIn: -3600 }),
        proxies.issue({ cn: 'proxy', beginsIn: 3600, endsIn: 7200 }),
      ]) {
        assert.equal(await whoami({ certificate, headers: masters }), 401)
      }
    })

    test('attack: the client certificate of a front proxy does not authenticate a user', async () => {
      const certificate = proxies.issue({ cn: 'admin', o: ['system:masters'] })
      assert.equal(await whoami({ certificate }), 401)
      assert.equal((await call({ certificate, path: '/api/v1/secrets' })).status, 401)
    })

    test('a client certificate still authenticates its user', async () => {
      const certificate = clients.issue({ cn: 'jim', o: ['dev'], uid: 'u7' })
      const { username, uid, groups } = Object(await whoami({ certificate }))
      assert.deepEqual([username, uid, groups], ['jim', 'u7', ['dev', 'system:authenticated']])
    })
  })
}

async function publishedMap(): Promise<{ readonly [key: string]: string }> {
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
  const { status, text } = await overHttp1({
    path,
    headers: { authorization: `Bearer ${adminToken}` },
  })
  return status === 200 ? JSON.parse(text).data : {}
}

test('the front-proxy settings are published for extension API servers', async () => {
  const data = await publishedMap()
  assert.deepEqual(data, {
    'client-ca-file': clients.certificatePem,
    'requestheader-allowed-names': '["proxy"]',
    'requestheader-client-ca-file': proxies.certificatePem,
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group","Teams"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User","X-Login"]',
  })
})

test('the CAs for front proxies are reloaded when their file changes', async () => {
  const renewed = new Authority('renewed proxies')
  const certificate = renewed.issue({ cn: 'proxy' })
  assert.equal((await overHttp2({ certificate, headers: jane })).status, 401)
  await writeFile(join(dir, 'proxies.pem'), renewed.certificatePem)
  const isUsed = async (): Promise<boolean> =>
    (await overHttp2({ certificate, headers: jane })).status === 201
  // Ignore errors, because a handshake may fail while the server replaces the authorities.
  await until(() => isUsed().catch(() => false), 'the new authority is used', WATCHED_MS)
  assert.equal((await overHttp2({ certificate: proxy, headers: jane })).status, 401)
  assert.equal((await overHttp2({ certificate: clients.issue({ cn: 'jim' }) })).status, 201)
  await until(async () => {
    const { 'requestheader-client-ca-file': published } = await publishedMap()
    return published?.includes(renewed.certificatePem) ?? false
  }, 'the new authority is published')
})
