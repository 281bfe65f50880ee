import assert from 'node:assert/strict'
import { createPublicKey, createVerify, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createClient } from './client.ts'
import { Companions } from './companions.ts'

test('the files of a scenario set-up contain the addresses of webhooks and issuers, and certificates', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-set-up-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writeFileSync(join(dir, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await using companions = await Companions.start({
    flags: [],
    hooks: { access: () => ({}) },
    issuers: { one: {} },
    files: {
      'a.json': { hook: '${hook.access}', issuer: '${issuer.one}', ca: '${pem.hook}' },
      b: 'in ${dir}',
    },
  })
  assert.deepEqual(await companions.writeFiles(dir, ['--x=${dir}/a.json']), [`--x=${dir}/a.json`])
  const read = (name: string): string => readFileSync(join(dir, name), 'utf8')
  const { url } = companions.hooks
  assert.deepEqual(JSON.parse(read('a.json')), {
    hook: `${url}/set-up/access`,
    issuer: `${url}/issuer/one`,
    ca: read('hook-ca.pem'),
  })
  assert.equal(read('b'), `in ${dir}`)
  const { certificatePem } = companions.certificate({ cn: 'u', o: ['a', 'b'] })
  assert.ok(
    new X509Certificate(certificatePem).verify(
      new X509Certificate(read('client-ca.pem')).publicKey,
    ),
  )
})

test('an issuer publishes the key with which its tokens are signed', async () => {
  await using companions = await Companions.start({ flags: [], issuers: { one: {} } })
  using client = createClient({ server: companions.hooks.url })
  const get = async (path: string) =>
    JSON.parse((await client.request({ method: 'GET', path })).raw.toString())
  const discovery = await get('/issuer/one/.well-known/openid-configuration')
  assert.equal(discovery.issuer, `${companions.hooks.url}/issuer/one`)
  const { keys } = await get(new URL(discovery.jwks_uri).pathname)
  const token = companions.token({ issuer: 'one', claims: { aud: 'x', iat: null } }, 'sub')
  const [header = '', payload = '', signature = ''] = token.split('.')
  const { kid, alg } = JSON.parse(Buffer.from(header, 'base64url').toString())
  const key = createPublicKey({
    key: keys.find((jwk: { kid: string }) => jwk.kid === kid),
    format: 'jwk',
  })
  assert.equal(alg, 'RS256')
  assert.ok(
    createVerify('sha256').update(`${header}.${payload}`).verify(key, signature, 'base64url'),
  )
  const { exp, ...claims } = JSON.parse(Buffer.from(payload, 'base64url').toString())
  assert.deepEqual(claims, { iss: discovery.issuer, sub: 'sub', aud: 'x' })
  assert.ok(exp > Date.now() / 1000)
})

test('a webhook call that mentions the namespace of a scenario is handled by this scenario', async () => {
  await using companions = await Companions.start({
    flags: [],
    hooks: { access: () => ({ for: 'nobody' }) },
  })
  const { hooks } = companions
  hooks.serve('oracle-0123456789', { access: () => ({ for: 'scenario' }) })
  using client = createClient({ server: hooks.url })
  const call = async (user: string) => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ user })
    return JSON.parse(
      (
        await client.request({ method: 'POST', path: '/set-up/access', headers, body })
      ).raw.toString(),
    )
  }
  assert.deepEqual(await call('oracle-0123456789-u'), { for: 'scenario' })
  assert.deepEqual(await call('oracle-9876543210-u'), { for: 'nobody' })
  assert.deepEqual(hooks.callsOf('oracle-0123456789', 'access'), [
    {
      method: 'POST',
      path: '/access',
      contentType: 'application/json',
      accept: null,
      authorization: null,
      certificate: null,
      body: { user: 'oracle-0123456789-u' },
    },
  ])
})
