/**
 * Tests ServiceAccount tokens that an external signer signs. The signer listens on a Unix domain
 * socket.
 */
import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { checkArgs } from '../../src/config/config.ts'
import { ExternalSignerServer } from '../support/harness/external-signer.ts'
import { type Client, clients, startReplica, startTestServer, type TestServer } from './support.ts'

const accounts = '/api/v1/namespaces/default/serviceaccounts'
const parts = new AsyncDisposableStack()
let signer: ExternalSignerServer
let server: TestServer
let client: Client

const flagsFor = (path: string): readonly string[] => [
  '--authorization-mode=RBAC',
  '--service-account-issuer=https://issuer.example.com',
  '--feature-gates=ExternalServiceAccountTokenSigner=true',
  `--service-account-signing-endpoint=${path}`,
]

before(async () => {
  const dir = await mkdtemp(join(tmpdir(), 'keelson-signer-'))
  parts.defer(() => rm(dir, { recursive: true, force: true }))
  signer = parts.use(new ExternalSignerServer(join(dir, 'signer.sock')))
  await signer.start()
  server = parts.use(await startTestServer(flagsFor(signer.path)))
  const created = clients['HTTP/2']?.(server.url)
  assert.ok(created)
  client = parts.use(created)
  await client.call({ method: 'POST', path: accounts, body: { metadata: { name: 'sa' } } })
})

after(() => parts.disposeAsync())

const ask = (spec: object = {}) =>
  client.call({ method: 'POST', path: `${accounts}/sa/token`, body: { spec } })

async function issue(spec: object = {}): Promise<string> {
  const { status, text } = await ask(spec)
  assert.equal(status, 201, text)
  return String(JSON.parse(text).status.token)
}

async function whoAmI(token: string) {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const { status, text } = await client.call({ method: 'POST', path, token, body: {} })
  return status === 201 ? JSON.parse(text).status.userInfo.username : status
}

const headOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

test('tokens that the signer signs are accepted', async () => {
  const token = await issue()
  assert.deepEqual(headOf(token), { alg: 'ES256', kid: 'first', typ: 'JWT' })
  assert.equal(claimsOf(token).iss, 'https://issuer.example.com')
  assert.equal(await whoAmI(token), 'system:serviceaccount:default:sa')
  const [head, claims, signature = ''] = token.split('.')
  assert.equal(await whoAmI(`${head}.${claims}.${signature.slice(0, -4)}AAAA`), 401)
})

test('token lifetimes are limited to the maximum of the signer', async () => {
  const { text, headers } = await ask({ expirationSeconds: 86_400 })
  assert.equal(JSON.parse(text).spec.expirationSeconds, 7200)
  assert.match(
    String(headers['warning']),
    /requested expiration of 86400 seconds shortened to 7200 seconds/,
  )
})

test('the published keys verify tokens, and can be cached as long as the signer permits', async () => {
  const token = await issue()
  const { text, headers } = await client.call({ path: '/openid/v1/jwks' })
  const { keys } = JSON.parse(text)
  assert.deepEqual(
    keys.map(({ kid, alg }: { kid: string; alg: string }) => [kid, alg]),
    [['first', 'ES256']],
  )
  const maxAge = Number(/^public, max-age=(\d+)$/.exec(String(headers['cache-control']))?.[1])
  assert.ok(maxAge > 3000 && maxAge <= 3600)
  const [head = '', claims = '', signature = ''] = token.split('.')
  const key = createPublicKey({ key: keys[0], format: 'jwk' })
  const options = { key, dsaEncoding: 'ieee-p1363' } as const
  assert.ok(
    verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      options,
      Buffer.from(signature, 'base64url'),
    ),
  )
  const { text: configuration } = await client.call({ path: '/.well-known/openid-configuration' })
  assert.deepEqual(JSON.parse(configuration).id_token_signing_alg_values_supported, ['ES256'])
})

test('after a key rotation of the signer, old and new tokens are accepted', async () => {
  const old = await issue()
  signer.rotate('second')
  const token = await issue()
  assert.equal(headOf(token).kid, 'second')
  for (const one of [token, old])
    assert.equal(await whoAmI(one), 'system:serviceaccount:default:sa')
  const { text } = await client.call({ path: '/openid/v1/jwks' })
  assert.deepEqual(
    JSON.parse(text).keys.map(({ kid }: { kid: string }) => kid),
    ['second', 'first'],
  )
})

test('a token with an unexpected header field is not returned to clients', async () => {
  signer.extraHeader = { jku: 'https://elsewhere.example.com' }
  const { status, text } = await ask()
  signer.extraHeader = {}
  assert.equal(status, 500)
  const why =
    'failed to generate token: while validating header: while parsing header JSON: json: unknown field "jku"'
  assert.equal(JSON.parse(text).message, why)
})

test('calls to the signer are counted in metrics', async () => {
  const { text } = await client.call({ path: '/metrics' })
  assert.match(text, /^apiserver_externaljwt_sign_request_total\{code="OK"\} [1-9]/m)
  assert.match(text, /^apiserver_externaljwt_sign_request_total\{code="unknown-non-grpc"\} 1$/m)
  assert.match(text, /^apiserver_externaljwt_fetch_keys_request_total\{code="OK"\} 2$/m)
  assert.match(text, /^apiserver_externaljwt_fetch_keys_data_timestamp 1[0-9]{9}/m)
})

const faultsOf = (...more: readonly string[]): readonly string[] => {
  const checked = checkArgs([
    '--etcd-servers=http://127.0.0.1:1',
    '--service-account-issuer=https://a',
    ...more,
  ])
  return checked.kind === 'faults' ? checked.faults : []
}

test('a server does not start with an unsuitable signer or with conflicting flags', async () => {
  const wrong = parts.use(new ExternalSignerServer(`${signer.path}-2`))
  wrong.secondsMax = 3600
  await wrong.start()
  const args = [...flagsFor(wrong.path), '--service-account-max-token-expiration=2h']
  await assert.rejects(
    startReplica(server, args),
    /cannot be set longer than the token expiration supported by .*: 2h0m0s > 1h0m0s/,
  )
  const endpoint = '--service-account-signing-endpoint'
  const gate = '--feature-gates=ExternalServiceAccountTokenSigner=true'
  assert.deepEqual(faultsOf(`${endpoint}=/s`, gate), [])
  assert.deepEqual(faultsOf(`${endpoint}=@some.name`, gate), [])
  assert.deepEqual(faultsOf(`${endpoint}=/s`), [
    'setting `--service-account-signing-endpoint` requires enabling ExternalServiceAccountTokenSigner feature gate',
  ])
  assert.match(
    faultsOf(`${endpoint}=s`, gate)[0] ?? '',
    /^invalid value "s" passed for `--service-account-signing-endpoint`/,
  )
  const both = faultsOf(`${endpoint}=/s`, gate, '--service-account-signing-key-file=/none')
  assert.ok(
    both.some((fault) =>
      fault.endsWith('are mutually exclusive and cannot be set at the same time'),
    ),
  )
  const verifying = faultsOf(`${endpoint}=/s`, gate, '--service-account-key-file=/none')
  assert.ok(verifying.some((fault) => fault.endsWith('(They are mutually exclusive)')))
})

test('the server logs no warnings or errors while the tests of this file run', () => {
  assert.deepEqual(server.complaints, [])
})
