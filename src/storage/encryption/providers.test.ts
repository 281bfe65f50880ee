import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { describe, test } from 'node:test'
import { isCode } from '../errors.ts'
import { Encryption, type ProvidersByResource } from './encryption.ts'
import { RandomPool } from '../../lib/bytes/random-pool.ts'
import { identityProvider, type KeyedAlgorithm, keyedProvider, type NamedKey } from './provider.ts'
import { ProviderList } from './provider-list.ts'

const nonces = new RandomPool()
const named = (name: string, fill: number, bytes = 32): NamedKey => ({
  name,
  secret: createSecretKey(Buffer.alloc(bytes, fill)),
})
const provider = (algorithm: KeyedAlgorithm, ...keys: readonly [NamedKey, ...NamedKey[]]) =>
  keyedProvider(algorithm, keys, nonces)
const key = '/registry/secrets/default/a'
const plain = Buffer.from('a value that nobody is to see')

const refuses = (run: () => Promise<unknown>, message: string): Promise<void> =>
  assert.rejects(
    run,
    (error) => isCode(error, 'corrupt') && error instanceof Error && error.message === message,
  )

const old = new ProviderList([await provider('aesgcm', named('k1', 1))])

describe('the ciphers encrypt and decrypt values', () => {
  for (const [algorithm, sizes] of [
    ['aescbc', [16, 24, 32]],
    ['aesgcm', [16, 24, 32]],
    ['secretbox', [32]],
  ] as const) {
    for (const size of sizes) {
      test(`${algorithm} encrypts and decrypts with a key of ${size} bytes`, async () => {
        const list = new ProviderList([await provider(algorithm, named('k1', 7, size))])
        for (const text of ['', 'a', 'x'.repeat(15), 'x'.repeat(16), 'x'.repeat(100_000)]) {
          const value = Buffer.from(text)
          const stored = await list.toStorage(key, value)
          assert.equal(stored.subarray(0, 40).indexOf(`k8s:enc:${algorithm}:v1:k1:`), 0)
          assert.deepEqual(await list.fromStorage(key, stored), { value, stale: false })
          assert.ok(text.length < 15 || !stored.includes(value))
          assert.ok(!stored.equals(await list.toStorage(key, value)), 'no nonce is used twice')
        }
      })
    }
  }

  /**
   * Values recorded from kube-apiserver, with the key `golden-key-of-32-bytes-for-tests`, are in
   * test/integration/encryption.
   */
  test('a value is rejected if it was changed, truncated or encrypted with another key', async () => {
    const cases = {
      aesgcm: ['cipher: message authentication failed', 'cipher: message authentication failed'],
      secretbox: [
        'output array was not large enough for encryption',
        'output array was not large enough for encryption',
      ],
    } as const
    for (const [algorithm, [changed, wrong]] of Object.entries(cases)) {
      const name = algorithm === 'aesgcm' ? 'aesgcm' : 'secretbox'
      const list = new ProviderList([await provider(name, named('k1', 7))])
      const stored = await list.toStorage(key, plain)
      const last = stored.length - 1
      stored[last] = (stored[last] ?? 0) ^ 1
      await refuses(async () => list.fromStorage(key, stored), changed)
      stored[last] = (stored[last] ?? 0) ^ 1
      await refuses(
        async () =>
          new ProviderList([await provider(name, named('k1', 8))]).fromStorage(key, stored),
        wrong,
      )
      const prefix = Buffer.from(`k8s:enc:${algorithm}:v1:k1:`)
      await refuses(
        async () => list.fromStorage(key, stored.subarray(0, prefix.length + 5)),
        'the stored data was shorter than the required size',
      )
    }
    const cbc = new ProviderList([await provider('aescbc', named('k1', 7))])
    const stored = await cbc.toStorage(key, plain)
    await refuses(
      async () => cbc.fromStorage(key, stored.subarray(0, -1)),
      'the stored data is not a multiple of the block size',
    )
    await refuses(
      async () => cbc.fromStorage(key, stored.subarray(0, 30)),
      'the stored data was shorter than the required size',
    )
  })

  test('only AES-GCM rejects a value that was moved to another etcd key', async () => {
    const moved = '/registry/secrets/default/b'
    for (const algorithm of ['aescbc', 'secretbox'] as const) {
      const list = new ProviderList([await provider(algorithm, named('k1', 7))])
      assert.deepEqual(await list.fromStorage(moved, await list.toStorage(key, plain)), {
        value: plain,
        stale: false,
      })
    }
    const gcm = new ProviderList([await provider('aesgcm', named('k1', 7))])
    const stored = await gcm.toStorage(key, plain)
    await refuses(
      async () => gcm.fromStorage(moved, stored),
      'cipher: message authentication failed',
    )
  })
})

describe('the providers of a resource decrypt its values', () => {
  test('values that are encrypted with another key or provider can be read, and count as stale', async () => {
    const stored = await old.toStorage(key, plain)
    const lists = [
      new ProviderList([await provider('aesgcm', named('k2', 2), named('k1', 1))]),
      new ProviderList([
        await provider('secretbox', named('k1', 1)),
        await provider('aesgcm', named('k1', 1)),
      ]),
      new ProviderList([
        await provider('aesgcm', named('k2', 2)),
        await provider('aesgcm', named('k1', 1)),
        identityProvider,
      ]),
      new ProviderList([identityProvider, await provider('aesgcm', named('k1', 1))]),
      // Two keys of a provider can have the same name.
      new ProviderList([await provider('aesgcm', named('k1', 2), named('k1', 1))]),
    ]
    for (const list of lists)
      assert.deepEqual(await list.fromStorage(key, stored), { value: plain, stale: true })
  })

  test('only the identity provider reads a value that is not encrypted', async () => {
    const list = new ProviderList([await provider('aesgcm', named('k1', 1)), identityProvider])
    assert.deepEqual(await list.fromStorage(key, plain), { value: plain, stale: true })
    assert.deepEqual(await new ProviderList([identityProvider]).fromStorage(key, plain), {
      value: plain,
      stale: false,
    })
    await refuses(async () => old.fromStorage(key, plain), 'no matching prefix found')
  })

  test('if no encryption provider can read a value, the error explains the reason', async () => {
    const stored = await old.toStorage(key, plain)
    await refuses(
      async () => new ProviderList([identityProvider]).fromStorage(key, stored),
      'no matching prefix found',
    )
    await refuses(
      async () =>
        new ProviderList([await provider('secretbox', named('k1', 1))]).fromStorage(key, stored),
      'no matching prefix found',
    )
    await refuses(
      async () =>
        new ProviderList([await provider('aesgcm', named('k2', 1)), identityProvider]).fromStorage(
          key,
          stored,
        ),
      'no matching key was found for the provided AES transformer',
    )
    const box = await new ProviderList([await provider('secretbox', named('k1', 1))]).toStorage(
      key,
      plain,
    )
    await refuses(
      async () =>
        new ProviderList([await provider('secretbox', named('k2', 1))]).fromStorage(key, box),
      'no matching key was found for the provided Secretbox transformer',
    )
    await refuses(
      async () =>
        new ProviderList([
          await provider('aesgcm', named('k1', 2)),
          await provider('aesgcm', named('k2', 2)),
        ]).fromStorage(key, stored),
      '[cipher: message authentication failed, no matching key was found for the provided AES transformer]',
    )
  })
})

const by = async (...names: readonly string[]): Promise<ProvidersByResource> =>
  new Map(
    await Promise.all(
      names.map(async (name) => [name, [await provider('aesgcm', named(name, 1))]] as const),
    ),
  )

test('the most specific rule of the configuration applies, and internal records of the server are never encrypted', async () => {
  const folders = new Map([
    ['secrets', { group: '', resource: 'secrets' }],
    ['services/specs', { group: '', resource: 'services' }],
    ['minions', { group: '', resource: 'nodes' }],
    ['deployments', { group: 'apps', resource: 'deployments' }],
    ['replicasets', { group: 'apps', resource: 'replicasets' }],
    ['leases', { group: 'coordination.k8s.io', resource: 'leases' }],
    [
      'apiextensions.k8s.io/customresourcedefinitions',
      { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
    ],
  ])
  const options = { root: '/registry/', resourceOf: (folder: string) => folders.get(folder) }
  const encryption = new Encryption(
    await by('secrets', 'deployments.apps', '*.apps', '*.', 'gizmos.example.com', '*.*'),
    options,
  )
  const usedFor = async (path: string): Promise<string> => {
    const stored = (await encryption.toStorage(`/registry/${path}`, plain)).toString('latin1')
    return /^k8s:enc:aesgcm:v1:([^:]*):/.exec(stored)?.[1] ?? 'plain'
  }
  for (const [path, rule] of [
    ['secrets/a/b', 'secrets'],
    ['services/specs/a/b', '*.'],
    ['minions/a', '*.'],
    ['deployments/a/b', 'deployments.apps'],
    ['replicasets/a/b', '*.apps'],
    ['leases/a/b', '*.*'],
    ['apiextensions.k8s.io/customresourcedefinitions/x', '*.*'],
    ['example.com/gizmos/a/b', 'gizmos.example.com'],
    ['example.com/others/a', '*.*'],
    ['ranges/serviceips', 'plain'],
    ['masterleases/10.0.0.1', 'plain'],
    ['peerserverleases/x', 'plain'],
  ] as const) {
    assert.equal(await usedFor(path), rule, path)
  }
  assert.ok(
    encryption.canBeStale('/registry/secrets/a/b') &&
      !encryption.canBeStale('/registry/ranges/serviceips'),
  )
  encryption.replace(await by('secrets'))
  assert.equal(await usedFor('secrets/a/b'), 'secrets')
  assert.equal(await usedFor('minions/a'), 'plain')
})
