/**
 * Tests ServiceAccount tokens. One server issues them, and another server with the same key accepts
 * them as long as the ServiceAccount and the bound object exist.
 */
import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { until } from '../support/harness/until.ts'
import { type Client, clients, startReplica, startTestServer, type TestServer } from './support.ts'

const servers: TestServer[] = []
const replicas: Client[] = []
const accounts = '/api/v1/namespaces/default/serviceaccounts'
const pods = '/api/v1/namespaces/default/pods'
let dir = ''

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-accounts-'))
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keyFile = join(dir, 'sa.key')
  await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const args = [
    '--authorization-mode=Node,RBAC',
    '--disable-admission-plugins=ServiceAccount',
    '--service-account-issuer=https://issuer.example.com',
    `--service-account-signing-key-file=${keyFile}`,
    '--api-audiences=api,more',
    '--service-account-max-token-expiration=2h',
  ]
  const first = await startTestServer(args)
  servers.push(await startReplica(first, args), first)
  for (const { url } of servers) {
    const client = clients['HTTP/2']?.(url)
    assert.ok(client)
    replicas.push(client)
  }
})

after(async () => {
  for (const client of replicas) await client[Symbol.asyncDispose]()
  for (const server of servers) {
    await server[Symbol.asyncDispose]()
    assert.deepEqual(server.complaints, [])
  }
  await rm(dir, { recursive: true, force: true })
})

async function call(
  at: number,
  method: string,
  path: string,
  { body, token }: { body?: unknown; token?: string } = {},
) {
  const client = replicas[at]
  assert.ok(client)
  const { status, text, headers } = await client.call({
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...(token === undefined ? {} : { token }),
  })
  return { status, body: JSON.parse(text), warning: headers['warning'] }
}

async function issue(name: string, spec: object) {
  const made = await call(0, 'POST', accounts, { body: { metadata: { name } } })
  assert.ok(made.status === 201 || made.status === 409)
  const issued = await call(0, 'POST', `${accounts}/${name}/token`, { body: { spec } })
  assert.equal(issued.status, 201)
  return {
    token: String(issued.body.status.token),
    spec: issued.body.spec,
    warning: issued.warning,
  }
}

const whoAmI = async (at: number, token: string) => {
  const review = await call(at, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    body: {},
    token,
  })
  return review.status === 201 ? review.body.status.userInfo.username : review.status
}

/**
 * Waits until both servers reject the token. Each server is notified of the deletion by its own
 * watch.
 */
async function isRefused(token: string): Promise<void> {
  for (const at of [0, 1])
    await until(async () => (await whoAmI(at, token)) === 401, `server ${at} refuses the token`)
}

test('every server with the signing key accepts a token until its service account is deleted', async () => {
  const { token } = await issue('short', {})
  for (const at of [0, 1])
    assert.equal(await whoAmI(at, token), 'system:serviceaccount:default:short')
  assert.equal((await call(1, 'GET', pods, { token })).status, 403)
  assert.equal((await call(0, 'DELETE', `${accounts}/short`)).status, 200)
  await isRefused(token)
  await issue('short', {})
  const review = await call(1, 'POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
    body: { spec: { token } },
  })
  assert.match(
    review.body.status.error,
    /^\[invalid bearer token, service account UID \(.+\) does not match claim/,
  )
})

test('a token that is bound to a pod becomes invalid when the pod is deleted', async () => {
  const pod = {
    metadata: { name: 'p' },
    spec: { serviceAccountName: 'bound', containers: [{ name: 'c', image: 'i' }] },
  }
  assert.equal((await call(0, 'POST', pods, { body: pod })).status, 201)
  const { token } = await issue('bound', {
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' },
  })
  assert.equal(await whoAmI(1, token), 'system:serviceaccount:default:bound')
  const gone = { gracePeriodSeconds: 0 }
  assert.equal((await call(0, 'DELETE', `${pods}/p`, { body: gone })).status, 200)
  await isRefused(token)
})

test('the audiences and the lifetime of tokens are limited', async () => {
  const other = await issue('other', { audiences: ['elsewhere'] })
  assert.equal(await whoAmI(0, other.token), 401)
  const review = { spec: { token: other.token, audiences: ['api', 'elsewhere'] } }
  const { body } = await call(0, 'POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
    body: review,
  })
  assert.deepEqual(body.status.audiences, ['elsewhere'])
  const long = await issue('other', { expirationSeconds: 86_400, audiences: ['more'] })
  assert.equal(long.spec.expirationSeconds, 7200)
  assert.match(
    String(long.warning),
    /requested expiration of 86400 seconds shortened to 7200 seconds/,
  )
  assert.equal(await whoAmI(1, long.token), 'system:serviceaccount:default:other')
})

test('tokens can be verified with the published keys, and forged tokens are rejected', async () => {
  const { token } = await issue('seen', {})
  const [head = '', claims = '', signature = ''] = token.split('.')
  const { body: configuration } = await call(0, 'GET', '/.well-known/openid-configuration')
  assert.equal(configuration.issuer, 'https://issuer.example.com')
  assert.ok(String(configuration.jwks_uri).endsWith('/openid/v1/jwks'))
  const { body } = await call(0, 'GET', '/openid/v1/jwks')
  const key = createPublicKey({ key: body.keys[0], format: 'jwk' })
  const signed = Buffer.from(`${head}.${claims}`)
  const bytes = Buffer.from(signature, 'base64url')
  assert.ok(verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, bytes))
  const changed = JSON.parse(Buffer.from(claims, 'base64url').toString())
  changed['kubernetes.io'].serviceaccount.name = 'admin'
  const forged = `${head}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${signature}`
  const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`
  for (const bad of [forged, none, `${head}.${claims}.`, `${token}x`])
    assert.equal(await whoAmI(0, bad), 401)
})
