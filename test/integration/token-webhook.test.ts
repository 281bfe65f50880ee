/**
 * Tests a real token webhook over TLS. After a revocation, its responses must not be cached longer
 * than in kube-apiserver.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Authority } from '../support/harness/issued-certificate.ts'
import { until } from '../support/harness/until.ts'
import { type Client, clients, startTestServer, type TestServer } from './support.ts'

/**
 * Lifetimes, in ms, of two caches: that for the responses of the webhook, and that for all tokens.
 */
const CACHE_MS = 1000
const TOKEN_CACHE_MS = 10_000
/** Extra time for a busy machine. */
const SLACK_MS = 30_000

const authority = new Authority('hooks')
const reviews: {
  readonly token: string
  readonly authorization: string
  readonly audiences: readonly string[]
}[] = []
const users = new Map<string, object>()

let dir = ''
let hook: Server
let server: TestServer
let client: Client

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-token-webhook-'))
  const { certificatePem, keyPem } = authority.issue({
    cn: 'hook',
    usage: ['server'],
    hosts: ['127.0.0.1'],
  })
  hook = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const { apiVersion, kind, spec } = JSON.parse(text)
      reviews.push({ ...spec, authorization: request.headers.authorization ?? '' })
      const user = users.get(spec.token)
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({ apiVersion, kind, status: { authenticated: user !== undefined, user } }),
      )
    })
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  const address = hook.address()
  assert.ok(typeof address === 'object' && address !== null)
  await writeFile(join(dir, 'ca.pem'), authority.certificatePem)
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'c',
        cluster: {
          server: `https://127.0.0.1:${address.port}/`,
          'certificate-authority': 'ca.pem',
        },
      },
    ],
    users: [{ name: 'u', user: { token: 'of-the-server' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  await writeFile(join(dir, 'kubeconfig'), JSON.stringify(config))
  server = await startTestServer([
    `--authentication-token-webhook-config-file=${join(dir, 'kubeconfig')}`,
    '--authentication-token-webhook-version=v1',
    `--authentication-token-webhook-cache-ttl=${CACHE_MS}ms`,
  ])
  const created = clients['HTTP/2']?.(server.url)
  assert.ok(created)
  client = created
  // Wait until the server is ready. Before that, a new cluster has no flow schemas, and all users
  // share the few seats of the catch-all priority level.
  await until(
    async () => (await client.call({ path: '/readyz' })).status === 200,
    'the server is ready',
  )
})
after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  hook.closeAllConnections()
  hook.close()
  await rm(dir, { recursive: true, force: true })
})

async function statusOf(token: string): Promise<number> {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  return (await client.call({ method: 'POST', path, token, body: {} })).status
}

test('many requests with one token cause one webhook call', async () => {
  users.set('many', { username: 'jane' })
  const statuses = await Promise.all(Array.from({ length: 50 }, () => statusOf('many')))
  assert.deepEqual(new Set(statuses), new Set([201]))
  const asked = reviews.filter(({ token }) => token === 'many')
  assert.equal(asked.length, 1)
  assert.equal(asked[0]?.authorization, 'Bearer of-the-server')
})

test('tokens that another authenticator accepts are not sent to the webhook', async () => {
  assert.equal(await statusOf('bob-token'), 201)
  assert.deepEqual(
    reviews.filter(({ token }) => token === 'bob-token'),
    [],
  )
})

test('attack: a revoked token is rejected once the caches have expired', async () => {
  users.set('revoked', { username: 'jane' })
  const startMs = Date.now()
  assert.equal(await statusOf('revoked'), 201)
  users.delete('revoked')
  while ((await statusOf('revoked')) === 201) {
    assert.ok(
      Date.now() - startMs < TOKEN_CACHE_MS + CACHE_MS + SLACK_MS,
      'the token is still accepted',
    )
    await sleep(200)
  }
  // Send one more request. It must also be rejected, because the acceptance is no longer in any
  // cache.
  assert.equal(await statusOf('revoked'), 401)
})

test('while the webhook is down, its tokens are rejected, and other authenticators still work', async () => {
  hook.closeAllConnections()
  hook.close()
  assert.equal(await statusOf('any'), 401)
  assert.equal(await statusOf('bob-token'), 201)
  assert.ok(
    server.complaints.some((line) => line.includes('Failed to make webhook authenticator request')),
  )
  assert.ok(!server.complaints.join().includes('of-the-server'))
})
