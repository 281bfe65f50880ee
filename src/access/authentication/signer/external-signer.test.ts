import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ExternalSignerServer } from '../../../../test/support/harness/external-signer.ts'
import { parseJson } from '../../../api/json-value.ts'
import { parseJwt, verifyJwt } from '../../../lib/jwt.ts'
import { silent } from '../../../lib/telemetry/log.ts'
import { Metrics } from '../../../lib/telemetry/metrics.ts'
import { systemTime } from '../../../lib/time/timers.ts'
import { ExternalSigner } from './external-signer.ts'

async function start() {
  const parts = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'keelson-signer-'))
  parts.defer(() => rm(dir, { recursive: true }))
  const server = parts.use(new ExternalSignerServer(join(dir, 'signer.sock')))
  const metrics = new Metrics()
  const signer = parts.use(
    new ExternalSigner(server.path, { time: systemTime, log: silent, metrics }),
  )
  return { server, signer, metrics, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

const isVerifiedBy = async (token: string, { keys }: ExternalSigner): Promise<boolean> => {
  const jwt = parseJwt(token, parseJson)
  const found = await keys.find(jwt?.keyId ?? '')
  return jwt !== undefined && found.some((key) => verifyJwt(jwt, key))
}

test("a token that the signer signs can be verified with the signer's keys", async () => {
  await using parts = await start()
  const { server, signer, metrics } = parts
  await server.start()
  await signer.start()
  assert.equal(signer.secondsMax, 7200)
  const token = await signer.sign({ sub: 'a', aud: ['b'.repeat(300)] })
  assert.ok(await isVerifiedBy(token, signer))
  assert.deepEqual(server.calls, ['FetchKeys', 'Metadata', 'Sign'])
  const printed = metrics.print()
  assert.match(printed, /apiserver_externaljwt_sign_request_total\{code="OK"\} 1/)
  assert.match(printed, /apiserver_externaljwt_fetch_keys_request_total\{code="OK"\} 1/)
  assert.match(
    printed,
    /request_duration_seconds_count\{code="OK",method="\/v1alpha1.ExternalJWTSigner\/Sign"\} 1/,
  )
})

test('a server that starts before its signer waits for the signer', async () => {
  await using parts = await start()
  const starting = parts.signer.start()
  await new Promise((resolve) => void setTimeout(resolve, 200))
  await parts.server.start()
  await starting
  assert.ok(await isVerifiedBy(await parts.signer.sign({}), parts.signer))
})

test('a new signing key is fetched when its first token is verified, and the old key stays valid', async () => {
  await using parts = await start()
  const { server, signer } = parts
  await server.start()
  await signer.start()
  const before = await signer.sign({ sub: 'a' })
  server.rotate('second')
  const after = await signer.sign({ sub: 'b' })
  assert.ok(await isVerifiedBy(after, signer))
  assert.ok(await isVerifiedBy(before, signer))
  assert.equal(server.calls.filter((call) => call === 'FetchKeys').length, 2)
  for (const unknown of ['unknown', 'other']) assert.deepEqual(await signer.keys.find(unknown), [])
  assert.equal(
    server.calls.filter((call) => call === 'FetchKeys').length,
    3,
    'tokens with unknown keys do not cause a fetch each',
  )
})

test('a token that is signed with a key excluded from discovery is rejected, even if the key is new', async () => {
  await using parts = await start()
  const { server, signer } = parts
  await server.start()
  await signer.start()
  assert.deepEqual(await signer.keys.find('unknown'), [], 'the signer was asked just now')
  server.rotate('second', { isExcluded: true })
  await assert.rejects(signer.sign({}), /kid: second\) is excluded from OIDC discovery docs/)
})

test('concurrent verifications of tokens with a new key share one fetch, and unchanged keys are not parsed again', async () => {
  await using parts = await start()
  const { server, signer } = parts
  await server.start()
  await signer.start()
  const [first] = await signer.keys.find('first')
  server.rotate('second')
  const after = await signer.sign({ sub: 'b' })
  const verified = await Promise.all([1, 2, 3].map(() => isVerifiedBy(after, signer)))
  assert.deepEqual(verified, [true, true, true])
  assert.equal(server.calls.filter((call) => call === 'FetchKeys').length, 2)
  assert.equal((await signer.keys.find('first'))[0], first)
})

test('keys are refreshed at the time that the signer suggests', async () => {
  await using parts = await start()
  const { server, signer } = parts
  server.refreshSeconds = 1
  await server.start()
  await signer.start()
  server.rotate('second', { isExcluded: true })
  const untilMs = performance.now() + 60_000
  while ((await signer.keys.find('')).length < 2) {
    assert.ok(performance.now() < untilMs)
    await new Promise((resolve) => void setTimeout(resolve, 50))
  }
  assert.deepEqual(
    signer.keys.published.map(({ id }) => id),
    ['first'],
  )
  await assert.rejects(signer.sign({}), /kid: second\) is excluded from OIDC discovery docs/)
})

test('a token header from the signer with unknown or invalid fields is rejected', async () => {
  await using parts = await start()
  const { server, signer } = parts
  await server.start()
  await signer.start()
  const cases: readonly [object, RegExp][] = [
    [{ jku: 'https://x' }, /unknown field "jku"/],
    [{ alg: 'none' }, /bad signing algorithm "none"/],
    [{ kid: '' }, /key id missing/],
    [{ kid: 'x'.repeat(1025) }, /key id longer than 1 kb/],
    [{ typ: 'x' }, /bad type/],
  ]
  for (const [header, why] of cases) {
    server.extraHeader = header
    await assert.rejects(signer.sign({}), why)
  }
})

test('a signer is rejected if its maximum token lifetime is too short or the refresh hint is missing', async () => {
  await using short = await start()
  short.server.secondsMax = 599
  await short.server.start()
  await assert.rejects(short.signer.start(), /\(599s\) is less than acceptable \(min 600s\)/)
  await using hintless = await start()
  hintless.server.refreshSeconds = 0
  await hintless.server.start()
  await assert.rejects(hintless.signer.start(), /found invalid refresh hint \(0s\)/)
})
