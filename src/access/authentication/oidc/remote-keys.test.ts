import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { Answer } from './issuer-client.ts'
import { RemoteKeys } from './remote-keys.ts'

async function createKey(kid: string, alg = 'ES256') {
  const { publicKey, privateKey } = await generateKeyPair(alg)
  const jwk = { ...(await exportJWK(publicKey)), kid }
  const sign = async (header: { readonly kid?: string } = { kid }) => ({
    token: await new SignJWT({ sub: 'a' }).setProtectedHeader({ alg, ...header }).sign(privateKey),
    keyId: header.kid ?? '',
    algorithm: alg,
  })
  return { jwk, sign }
}

/**
 * Creates an issuer with replaceable keys. Its clock is simulated: a timer advances the clock and
 * fires immediately.
 */
function createIssuer(keys: readonly object[], headers: Answer['headers'] = {}) {
  const issuer = { keys, headers, fetches: 0, nowMs: 1_000_000, isDown: false }
  const get = async (): Promise<Answer> => {
    issuer.fetches++
    await Promise.resolve()
    if (issuer.isDown) throw new Error('Get "https://i/keys": down')
    const body = Buffer.from(JSON.stringify({ keys: issuer.keys }))
    return { status: 200, statusText: '200 OK', headers: issuer.headers, body }
  }
  const after = (ms: number, run: () => void) => {
    issuer.nowMs += ms
    queueMicrotask(run)
    return { close: () => undefined }
  }
  const time = { wallMs: () => issuer.nowMs, monotonicMs: () => issuer.nowMs, after }
  return { issuer, remote: new RemoteKeys('https://i/keys', { get, time }) }
}

const unverified = 'failed to verify id token signature'

test('the keys of an issuer are fetched for the first token, and again for a token with an unknown key', async () => {
  const [one, two] = [await createKey('1'), await createKey('2')]
  const { issuer, remote } = createIssuer([one.jwk])
  assert.equal(issuer.fetches, 0)
  assert.equal(await remote.verify(await one.sign()), undefined)
  assert.equal(await remote.verify(await one.sign()), undefined)
  assert.equal(issuer.fetches, 1)
  issuer.keys = [one.jwk, two.jwk]
  assert.equal(await remote.verify(await two.sign()), undefined)
  assert.equal(issuer.fetches, 2)
  assert.equal(
    await remote.verify(await one.sign({})),
    undefined,
    'without a key id all keys are tried',
  )
  assert.equal(issuer.fetches, 2)
})

test('a token that was signed with one key but has the id of another key is rejected', async () => {
  const [one, two] = [await createKey('1'), await createKey('2')]
  const { remote } = createIssuer([one.jwk, two.jwk])
  assert.equal(await remote.verify(await one.sign({ kid: '2' })), unverified)
  assert.equal(await remote.verify(await one.sign({ kid: '../1' })), unverified)
})

test('while the keys of an issuer are fresh, a token with an unknown key is rejected without a fetch', async () => {
  const [one, two] = [await createKey('1'), await createKey('2')]
  const { issuer, remote } = createIssuer([one.jwk], { 'cache-control': 'max-age=100' })
  assert.equal(await remote.verify(await one.sign()), undefined)
  issuer.keys = [two.jwk]
  issuer.nowMs += 69_000
  assert.equal(await remote.verify(await two.sign()), unverified)
  assert.equal(issuer.fetches, 1)
  issuer.nowMs += 2_000
  assert.equal(await remote.verify(await two.sign()), undefined)
  assert.equal(await remote.verify(await one.sign()), unverified)
})

test('verifications of several tokens with unknown keys share one fetch of the keys, and fetches are rate-limited', async () => {
  const [one, two] = [await createKey('1'), await createKey('2')]
  const { issuer, remote } = createIssuer([one.jwk])
  const token = await two.sign()
  const results = await Promise.all(Array.from({ length: 20 }, () => remote.verify(token)))
  assert.deepEqual(new Set(results), new Set([unverified]))
  assert.equal(issuer.fetches, 1)
  const before = issuer.nowMs
  assert.equal(await remote.verify(token), unverified)
  assert.equal(issuer.fetches, 2)
  assert.equal(issuer.nowMs - before, 500)
})

test('the fetched keys of an issuer stay in use while the issuer is down', async () => {
  const [one, two] = [await createKey('1'), await createKey('2')]
  const { issuer, remote } = createIssuer([one.jwk])
  assert.equal(await remote.verify(await one.sign()), undefined)
  issuer.isDown = true
  issuer.nowMs += 3_600_000
  assert.equal(await remote.verify(await one.sign()), undefined)
  assert.match(
    (await remote.verify(await two.sign())) ?? '',
    /^fetching keys oidc: get keys failed Get/,
  )
  assert.equal(await remote.verify(await one.sign()), undefined)
})

test('a withdrawn key is rejected after the keys are refreshed', async () => {
  const [one, two] = [await createKey('1'), await createKey('2')]
  const { issuer, remote } = createIssuer([one.jwk])
  const token = await one.sign()
  assert.equal(await remote.verify(token), undefined)
  issuer.keys = [two.jwk]
  issuer.nowMs += 10 * 60_000
  assert.equal(await remote.verify(token), undefined)
  await new Promise((resolve) => void setImmediate(resolve))
  assert.equal(await remote.verify(token), unverified)
})

test('invalid keys and keys that are not for signatures do not verify tokens, and do not affect other keys', async () => {
  const [one, rsa] = [await createKey('1'), await createKey('1', 'RS256')]
  const wrong = [
    { ...one.jwk, crv: 'P-384' },
    { ...one.jwk, x: 'AAAA' },
    { ...one.jwk, use: 'enc' },
    { kty: 'oct', k: 'AAAA', kid: '1' },
    { kty: 'RSA', n: 'AAAA', e: 'AQAB', kid: '1' },
    { kty: 'new' },
  ]
  for (const key of wrong)
    assert.equal(await createIssuer([key]).remote.verify(await one.sign()), unverified)
  const { remote } = createIssuer([...wrong, one.jwk, rsa.jwk])
  assert.equal(await remote.verify(await one.sign()), undefined)
  assert.equal(await remote.verify(await rsa.sign()), undefined)
})

test('a response of an issuer that is not a key set is an error', async () => {
  const one = await createKey('1')
  const { issuer, remote } = createIssuer([])
  Object.assign(issuer, { keys: undefined })
  assert.match(
    (await remote.verify(await one.sign())) ?? '',
    /^fetching keys oidc: failed to decode keys/,
  )
})
