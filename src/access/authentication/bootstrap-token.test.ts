import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { silent } from '../../lib/telemetry/log.ts'
import { createBootstrapTokens } from './bootstrap-token.ts'

const nowMs = Date.parse('2026-06-01T00:00:00Z')
const data = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
}
const good = 'abcdef.0123456789abcdef'

function secretOf(
  more: { readonly [key: string]: string } = {},
  metadata: object = {},
  type?: string,
): KubeObject {
  const values = Object.entries({ ...data, ...more })
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bootstrap-token-abcdef', ...metadata },
    type: type ?? 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(
      values.map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    ),
  }
}

async function seen(token: string, secret: KubeObject | undefined): Promise<string> {
  const readSecret = (name: string) => (name === 'bootstrap-token-abcdef' ? secret : undefined)
  const result = await createBootstrapTokens({ readSecret, wallMs: () => nowMs, log: silent })(
    token,
  )
  return result.kind === 'known' ? `${result.user.name} ${result.user.groups.join()}` : result.kind
}

const user = 'system:bootstrap:abcdef system:bootstrappers'
const groups = (names: string): KubeObject => secretOf({ 'auth-extra-groups': names })
const cases: readonly [string, string, KubeObject | undefined, string][] = [
  ['that matches its Secret', good, secretOf(), user],
  ['without a Secret', good, undefined, 'unknown'],
  ['with another secret', 'abcdef.0123456789abcdee', secretOf(), 'unknown'],
  ['whose secret is longer', `${good}0`, secretOf(), 'unknown'],
  ['of another format', 'abcdef', secretOf(), 'unknown'],
  ['in capitals', good.toUpperCase(), secretOf(), 'unknown'],
  ['with a trailing newline', `${good}\n`, secretOf(), 'unknown'],
  ['whose Secret has another id', good, secretOf({ 'token-id': 'abcdeg' }), 'unknown'],
  [
    'whose Secret has a shorter secret',
    good,
    secretOf({ 'token-secret': '0123456789abcde' }),
    'unknown',
  ],
  ['whose Secret has an empty secret', good, secretOf({ 'token-secret': '' }), 'unknown'],
  [
    'that is not for authentication',
    good,
    secretOf({ 'usage-bootstrap-authentication': 'false' }),
    'unknown',
  ],
  [
    'with "True" for authentication',
    good,
    secretOf({ 'usage-bootstrap-authentication': 'True' }),
    'unknown',
  ],
  ['whose Secret has another type', good, secretOf({}, {}, 'Opaque'), 'unknown'],
  [
    'whose Secret is being deleted',
    good,
    secretOf({}, { deletionTimestamp: '2030-01-01T00:00:00Z' }),
    'unknown',
  ],
  ['that has not expired', good, secretOf({ expiration: '2026-06-01T00:00:01Z' }), user],
  ['that expires now', good, secretOf({ expiration: '2026-06-01T00:00:00Z' }), 'unknown'],
  [
    'that expired in another time zone',
    good,
    secretOf({ expiration: '2026-06-01T01:00:00+01:30' }),
    'unknown',
  ],
  ['whose expiration is only a year', good, secretOf({ expiration: '2030' }), 'unknown'],
  [
    'whose expiration has lowercase letters',
    good,
    secretOf({ expiration: '2030-01-01t00:00:00z' }),
    'unknown',
  ],
  [
    'whose expiration is not a valid date',
    good,
    secretOf({ expiration: '2030-02-30T00:00:00Z' }),
    'unknown',
  ],
  [
    'with groups',
    good,
    groups('system:bootstrappers:z,system:bootstrappers:a:b-1,system:bootstrappers:z'),
    `${user},system:bootstrappers:a:b-1,system:bootstrappers:z`,
  ],
  ['with a group outside system:bootstrappers', good, groups('system:masters'), 'unknown'],
  ['with a group that ends with a hyphen', good, groups('system:bootstrappers:a-'), 'unknown'],
  ['with a group that ends with a colon', good, groups('system:bootstrappers:'), 'unknown'],
  ['with a group that ends with a newline', good, groups('system:bootstrappers:a\n'), 'unknown'],
  [
    'with a space between groups',
    good,
    groups('system:bootstrappers:a, system:bootstrappers:b'),
    'unknown',
  ],
  ['whose groups end with a comma', good, groups('system:bootstrappers:a,'), 'unknown'],
]
for (const [what, token, secret, wanted] of cases) {
  test(`a bootstrap token ${what} results in ${wanted}`, async () =>
    assert.equal(await seen(token, secret), wanted))
}

test('a bootstrap token whose Secret is not in the cache is looked up in etcd, but a malformed token is not', async () => {
  const reads: string[] = []
  const authenticate = createBootstrapTokens({
    readSecret: async (name, at) => {
      reads.push(`${name} ${at}`)
      return at === 'any' ? undefined : secretOf()
    },
    wallMs: () => nowMs,
    log: silent,
  })
  assert.equal((await authenticate(good)).kind, 'known')
  assert.deepEqual(reads, ['bootstrap-token-abcdef any', 'bootstrap-token-abcdef latest'])
  assert.ok(!(authenticate('a.b') instanceof Promise))
  assert.ok(!(authenticate('../../x.0123456789abcdef') instanceof Promise))
  assert.equal(reads.length, 2)
})
