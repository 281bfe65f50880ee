import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { readSigningKey, signJwt } from '../../lib/jwt.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { fixedKeys } from './service-account-keys.ts'
import { createServiceAccountMetrics } from './service-account-metrics.ts'
import { createAuthenticateLegacy } from './legacy-token.ts'
import { createParseToken } from './parse-token.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const key = readSigningKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
assert.ok(key !== undefined)
const signing = key

const prefix = 'kubernetes.io/serviceaccount'
const claims = {
  iss: 'kubernetes/serviceaccount',
  sub: 'system:serviceaccount:n:sa',
  [`${prefix}/namespace`]: 'n',
  [`${prefix}/secret.name`]: 's',
  [`${prefix}/service-account.name`]: 'sa',
  [`${prefix}/service-account.uid`]: 'u1',
}
const token = signJwt(claims, signing)

const account = (more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'sa', namespace: 'n', uid: 'u1' },
  ...more,
})

const secret = (text: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'n', uid: 'u2', ...metadata },
  data: { token: Buffer.from(text).toString('base64') },
})

type TokenCase = {
  readonly secret?: KubeObject | undefined
  readonly account?: KubeObject | undefined
  readonly looksUp?: boolean
  readonly text?: string
  readonly audiences?: readonly string[]
}

const today = '2026-01-31'

async function seen(world: TokenCase = {}) {
  const { looksUp = true, text = token, audiences = ['api'] } = world
  const objects = { secrets: secret(token), serviceaccounts: account(), ...renamed(world) }
  const labels: string[] = []
  const metrics = new Metrics()
  const authenticate = createAuthenticateLegacy({
    parse: createParseToken(),
    keys: fixedKeys([signing]),
    served: ['api', 'more'],
    looksUp,
    read: async ({ plural }) => (plural === 'secrets' ? objects.secrets : objects.serviceaccounts),
    label: async ({ metadata }, day) => void labels.push(`${metadata.name} ${day}`),
    metrics: createServiceAccountMetrics(metrics),
    wallMs: () => Date.parse(`${today}T23:00:00Z`),
  })
  const result = await authenticate(text, audiences)
  const counted = [...metrics.print().matchAll(/^serviceaccount_(\w+) 1$/gm)].map(
    ([, name]) => name,
  )
  return { result, why: result.kind === 'bad' ? result.why : result.kind, labels, counted }
}

const renamed = (world: TokenCase) => ({
  ...('secret' in world ? { secrets: world.secret } : {}),
  ...('account' in world ? { serviceaccounts: world.account } : {}),
})

test('a legacy token authenticates its service account, and a label of its Secret records the day of use', async () => {
  const { result, labels, counted } = await seen()
  assert.deepEqual(result, {
    kind: 'known',
    audiences: ['api'],
    user: {
      name: 'system:serviceaccount:n:sa',
      uid: 'u1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:n'],
    },
    annotations: {
      'authentication.k8s.io/legacy-token': 'system:serviceaccount:n:sa',
      'authentication.k8s.io/legacy-token-manual-secret': 's',
    },
  })
  assert.deepEqual(labels, ['s 2026-01-31'])
  assert.deepEqual(counted, ['legacy_manual_token_uses_total', 'legacy_tokens_total'])
})

const used = (day: string) =>
  secret(token, { labels: { 'kubernetes.io/legacy-token-last-used': day } })

test('the use of a token is recorded once per day', async () => {
  assert.deepEqual((await seen({ secret: used('2026-01-30') })).labels, ['s 2026-01-31'])
  for (const day of ['2026-01-31', '2026-02-01'])
    assert.deepEqual((await seen({ secret: used(day) })).labels, [])
})

test('an auto-generated token causes a warning; a token that is marked as invalid is rejected, but its use is recorded', async () => {
  const { result, counted } = await seen({ account: account({ secrets: [{ name: 's' }] }) })
  assert.ok(result.kind === 'known')
  assert.match(
    result.warnings?.[0] ?? '',
    /^Use tokens from the TokenRequest API .* instead of auto-generated/,
  )
  assert.deepEqual(counted, ['legacy_auto_token_uses_total', 'legacy_tokens_total'])
  const labels = { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' }
  const marked = await seen({ secret: secret(token, { labels }) })
  assert.match(
    marked.why,
    /^the token in secret n\/s for service account n\/sa has been marked invalid\. Use tokens/,
  )
  assert.deepEqual(marked.labels, ['s 2026-01-31'])
  assert.deepEqual(marked.counted, ['invalid_legacy_auto_token_uses_total', 'legacy_tokens_total'])
})

test('a token is valid only while its Secret and service account exist, unless lookup is disabled', async () => {
  const gone = { deletionTimestamp: '2026-01-31T22:59:59Z' }
  const cases: readonly [TokenCase, string][] = [
    [{ secret: undefined }, 'Token has been invalidated'],
    [{ secret: secret(token, gone) }, 'Token has been invalidated'],
    [{ secret: secret(`${token}x`) }, "Token does not match server's copy"],
    [{ secret: secret('') }, "Token does not match server's copy"],
    [{ account: undefined }, 'serviceaccounts "sa" not found'],
    [
      { account: account({ metadata: { name: 'sa', uid: 'u1', ...gone } }) },
      'ServiceAccount n/sa has been deleted',
    ],
    [
      { account: account({ metadata: { name: 'sa', uid: 'new' } }) },
      'ServiceAccount UID (new) does not match claim (u1)',
    ],
  ]
  for (const [world, why] of cases) {
    assert.equal((await seen(world)).why, why)
    const { result, labels } = await seen({ ...world, looksUp: false })
    assert.equal(result.kind, 'known')
    assert.deepEqual(labels, [])
  }
})

test('a token with a bad issuer, signature, claim or audience is not accepted', async () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const forged = readSigningKey(other.export({ type: 'pkcs8', format: 'pem' }).toString())
  assert.ok(forged !== undefined)
  const signed = (more: object) => signJwt({ ...claims, ...more }, signing)
  const cases: readonly [string, string][] = [
    [signed({ iss: 'https://issuer' }), 'unknown'],
    ['x', 'unknown'],
    [signJwt(claims, forged), 'invalid signature, no keys found'],
    [
      signJwt(claims, { ...forged, id: signing.id }),
      'go-jose/go-jose: error in cryptographic primitive',
    ],
    [signed({ sub: '' }), 'sub claim is missing'],
    [signed({ sub: 'system:serviceaccount:n:other' }), 'sub claim is invalid'],
    [signed({ [`${prefix}/namespace`]: undefined }), 'namespace claim is missing'],
    [signed({ [`${prefix}/secret.name`]: undefined }), 'secretName claim is missing'],
    [signed({ [`${prefix}/service-account.name`]: '' }), 'serviceAccountName claim is missing'],
    [signed({ [`${prefix}/service-account.uid`]: '' }), 'serviceAccountUID claim is missing'],
    [signed({ aud: ['x'] }), 'token audiences ["x"] is invalid for the target audiences ["api"]'],
  ]
  for (const [text, why] of cases) assert.equal((await seen({ text })).why, why)
  const elsewhere = await seen({ audiences: ['y'] })
  assert.equal(
    elsewhere.why,
    'token audiences ["api" "more"] is invalid for the target audiences ["y"]',
  )
})
