import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { type JwtKey, readSigningKey, readVerifyingKeys, signJwt } from '../../lib/jwt.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { fixedKeys } from './service-account-keys.ts'
import { createServiceAccountMetrics } from './service-account-metrics.ts'
import { createServiceAccountAuthenticator } from './service-account-token.ts'
import { createParseToken } from './parse-token.ts'

const nowSeconds = 1_800_000_000

function createKey(): { readonly signing: JwtKey; readonly verifying: readonly JwtKey[] } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const signing = readSigningKey(pem)
  assert.ok(signing !== undefined)
  return { signing, verifying: readVerifyingKeys(pem) }
}

const key = createKey()
const object = (kind: string, name: string, uid: string, more = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, uid, ...more },
})
const objects = new Map([
  ['serviceaccounts/n/sa', object('ServiceAccount', 'sa', 'u1')],
  [
    'serviceaccounts/n/old',
    object('ServiceAccount', 'old', 'u2', { deletionTimestamp: '2020-01-01T00:00:00Z' }),
  ],
  ['pods/n/p', object('Pod', 'p', 'u3')],
  ['nodes//node', object('Node', 'node', 'u4')],
])
const authenticate = createServiceAccountAuthenticator({
  issuers: ['https://issuer', 'https://older'],
  parse: createParseToken(),
  keys: fixedKeys(key.verifying),
  metrics: createServiceAccountMetrics(new Metrics()),
  read: ({ plural, namespace, name }) =>
    Promise.resolve(objects.get(`${plural}/${namespace}/${name}`)),
  wallMs: () => nowSeconds * 1000,
})

const own = { namespace: 'n', serviceaccount: { name: 'sa', uid: 'u1' } }
const claims = {
  iss: 'https://issuer',
  aud: ['api', 'b'],
  exp: nowSeconds + 600,
  nbf: nowSeconds,
  jti: 'j',
  'kubernetes.io': own,
}
const token = (more: object = {}, by = key.signing): string => signJwt({ ...claims, ...more }, by)

/** Returns the user name, or the reason why the token is rejected. */
async function seen(text: string, audiences: readonly string[] = ['api']): Promise<string> {
  const result = await authenticate(text, audiences)
  return result.kind === 'known' ? result.user.name : result.kind === 'bad' ? result.why : 'unknown'
}

test('a very long list of audiences is compared quickly, and an error message lists only the first audiences', async () => {
  const given = Array.from({ length: 1_000 }, (_, at) => `a${at}`)
  const targets = Array.from(
    { length: 300_000 },
    (_, at) => `t${at}${'x'.repeat(at === 0 ? 1_000 : 0)}`,
  )
  const since = process.threadCpuUsage()
  const why = await seen(token({ aud: given }), targets)
  assert.ok(process.threadCpuUsage(since).user < 1_000_000, 'microseconds')
  assert.ok(why.length < 2_000, String(why.length))
  assert.match(
    why,
    /"a19" \.\.\.\] is invalid for the target audiences \["t0x+" "t1" .*"t19" \.\.\.\]/,
  )
})

test('a valid token yields the service account, its groups and the objects that the token is bound to', async () => {
  const bound = { ...own, pod: { name: 'p', uid: 'u3' }, node: { name: 'gone' } }
  const result = await authenticate(token({ 'kubernetes.io': bound }), ['b', 'c'])
  assert.deepEqual(result, {
    kind: 'known',
    audiences: ['b'],
    user: {
      name: 'system:serviceaccount:n:sa',
      uid: 'u1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:n'],
      extra: {
        'authentication.kubernetes.io/credential-id': ['JTI=j'],
        'authentication.kubernetes.io/node-name': ['gone'],
        'authentication.kubernetes.io/pod-name': ['p'],
        'authentication.kubernetes.io/pod-uid': ['u3'],
      },
    },
  })
})

const cases: readonly (readonly [string, string, string])[] = [
  ['a token of an older issuer', token({ iss: 'https://older' }), 'system:serviceaccount:n:sa'],
  ['a token of a foreign issuer', token({ iss: 'https://other' }), 'unknown'],
  ['a string that is not a token', 'x.y.z', 'unknown'],
  [
    'a token signed with a foreign key',
    token({}, createKey().signing),
    'invalid signature, no keys found',
  ],
  [
    'a token signed with a foreign key under the id of ours',
    token({}, { ...createKey().signing, id: key.signing.id }),
    'go-jose/go-jose: error in cryptographic primitive',
  ],
  [
    'a token for another audience',
    token({ aud: ['x'] }),
    'token audiences ["x"] is invalid for the target audiences ["api"]',
  ],
  [
    'a token that has expired',
    token({ exp: nowSeconds - 61 }),
    'service account token has expired',
  ],
  [
    'a token that is not valid yet',
    token({ nbf: nowSeconds + 61 }),
    'service account token is not valid yet',
  ],
  [
    'a token issued in the future',
    token({ iat: nowSeconds + 61 }),
    'service account token is issued in the future',
  ],
  [
    'a token of a deleted account',
    token({ 'kubernetes.io': { namespace: 'n', serviceaccount: { name: 'none', uid: 'x' } } }),
    'serviceaccounts "none" not found',
  ],
  [
    'a token of an earlier account with the same name',
    token({ 'kubernetes.io': { namespace: 'n', serviceaccount: { name: 'sa', uid: 'x' } } }),
    'service account UID (u1) does not match claim (x)',
  ],
  [
    'a token of an account that is being deleted',
    token({ 'kubernetes.io': { namespace: 'n', serviceaccount: { name: 'old', uid: 'u2' } } }),
    'service account n/old has been deleted',
  ],
  [
    'a token bound to a deleted pod',
    token({ 'kubernetes.io': { ...own, pod: { name: 'none', uid: 'u3' } } }),
    'service account token has been invalidated',
  ],
  [
    'a token bound to an earlier node with the same name',
    token({ 'kubernetes.io': { ...own, node: { name: 'node', uid: 'x' } } }),
    'node UID (u4) does not match service account node ref claim (x)',
  ],
]
for (const [what, text, wanted] of cases) {
  test(`authentication with ${what} results in ${wanted}`, async () => {
    assert.equal(await seen(text), wanted)
    // The second call finds the verified signature in the cache.
    assert.equal(await seen(text), wanted)
  })
}
