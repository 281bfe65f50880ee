import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import { request } from '../api/own-request.ts'
import { silent } from '../lib/telemetry/log.ts'
import { builtIn, MemoryControlPlane } from '../../test/support/harness/memory-control-plane.ts'
import { cleanOnce } from './legacy-token-cleaner.ts'
import type { CacheAccess, CacheAccessOf } from './cache-access.ts'

const secrets = builtIn('secrets')
const accounts = builtIn('serviceaccounts')
const pods = builtIn('pods')
const configMaps = builtIn('configmaps')

const DAY_MS = 86_400_000
const startMs = Date.parse('2025-01-01T12:00:00Z')
const lastUsed = 'kubernetes.io/legacy-token-last-used'
const invalidSince = 'kubernetes.io/legacy-token-invalid-since'

const names = ['unused', 'made-by-hand', 'mounted', 'used', 'doubtful', 'young', 'of-another']

function secretOf(
  name: string,
  labels: Readonly<Record<string, string>> = {},
  created = '2024-01-01T00:00:00Z',
): KubeObject {
  const annotations = {
    'kubernetes.io/service-account.name': 'default',
    'kubernetes.io/service-account.uid': name === 'of-another' ? 'other' : 'account',
  }
  const metadata = {
    name,
    namespace: 'n',
    uid: name,
    labels,
    annotations,
    creationTimestamp: created,
  }
  return { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/service-account-token', metadata }
}

test('a token that is not used for a year is invalidated, and is deleted after another year', async () => {
  await using plane = await MemoryControlPlane.start([secrets, accounts, pods, configMaps])
  const metadata = {
    name: 'kube-apiserver-legacy-service-account-token-tracking',
    namespace: 'kube-system',
  }
  await plane.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { since: '2025-01-01' },
  })
  const account = { metadata: { name: 'default', namespace: 'n', uid: 'account' } }
  const references = names.filter((name) => name !== 'made-by-hand').map((name) => ({ name }))
  await plane.create(accounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    ...account,
    secrets: references,
  })
  const volumes = [{ name: 'v', secret: { secretName: 'mounted' } }]
  await plane.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'n' },
    spec: { volumes },
  })
  for (const name of ['unused', 'made-by-hand', 'mounted', 'of-another'])
    await plane.create(secrets, secretOf(name))
  await plane.create(secrets, secretOf('used', { [lastUsed]: '2025-12-31' }))
  await plane.create(secrets, secretOf('doubtful', { [lastUsed]: 'yesterday' }))
  await plane.create(secrets, secretOf('young', {}, '2025-12-31T00:00:00Z'))
  const { handle, registry, accessOf } = plane
  const clean = async (days: number): Promise<void> => {
    const clock = { wallMs: () => startMs + days * DAY_MS }
    const parts = { handle, registry, accessOf, periodMs: 365 * DAY_MS, clock, log: silent }
    await cleanOnce(parts, new AbortController().signal)
  }
  const found = async (): Promise<string[]> => {
    const { keys, reader } = accessOf(secrets)
    const { items } = await reader.list(keys.range('n'), 'latest')
    return items.map((item) => {
      const { name = '', labels } = item.peek().metadata
      return labels?.[invalidSince] === undefined ? name : `${name} ${labels[invalidSince]}`
    })
  }
  const all = names.toSorted()
  // No token is invalidated yet, because uses have been recorded for less than a year.
  await clean(364)
  assert.deepEqual(await found(), all)
  await clean(366)
  const marked = all.map((name) => (name === 'unused' ? 'unused 2026-01-02' : name))
  assert.deepEqual(await found(), marked)
  await clean(366 + 100)
  assert.ok((await found()).includes('unused 2026-01-02'))
  await clean(366 + 366)
  const left = await found()
  assert.ok(!left.some((name) => name.startsWith('unused')))
  assert.deepEqual(
    ['made-by-hand', 'mounted', 'of-another', 'doubtful'].filter((name) => !left.includes(name)),
    [],
  )
})

test('a token that is used during a cleanup pass is not invalidated, and Pods are listed once per namespace', async () => {
  await using plane = await MemoryControlPlane.start([secrets, accounts, pods, configMaps])
  const metadata = {
    name: 'kube-apiserver-legacy-service-account-token-tracking',
    namespace: 'kube-system',
  }
  await plane.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { since: '2024-01-01' },
  })
  const account = { metadata: { name: 'default', namespace: 'n', uid: 'account' } }
  const references = ['a', 'b', 'c'].map((name) => ({ name }))
  await plane.create(accounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    ...account,
    secrets: references,
  })
  for (const { name } of references) await plane.create(secrets, secretOf(name))
  const { signal } = new AbortController()
  let lists = 0
  const accessOf: CacheAccessOf = (resource) => {
    const access = plane.accessOf(resource)
    const { reader } = access
    if (resource.plural !== 'pods') return access
    const read: CacheAccess['reader'] = {
      known: () => reader.known(),
      get: (key, at) => reader.get(key, at),
      watch: (options) => reader.watch(options),
      list: async (range, at, options) => {
        lists++
        // Records a use of the token, as the authenticator does.
        const body = { metadata: { labels: { [lastUsed]: '2026-01-01' } } }
        const path = '/api/v1/namespaces/n/secrets/b'
        const sent = { method: 'PATCH', path, body, isMergePatch: true, signal }
        assert.equal((await request(plane.handle, sent)).status, 200)
        return reader.list(range, at, options)
      },
    }
    return { ...access, reader: read }
  }
  const { handle, registry } = plane
  const clock = { wallMs: () => startMs + 365 * DAY_MS }
  await cleanOnce(
    { handle, registry, accessOf, periodMs: 300 * DAY_MS, clock, log: silent },
    signal,
  )
  assert.equal(lists, 1)
  const { keys, reader } = plane.accessOf(secrets)
  const { items } = await reader.list(keys.range('n'), 'latest')
  const marked = items
    .map((item) => item.peek().metadata)
    .filter(({ labels }) => labels?.[invalidSince] !== undefined)
  assert.deepEqual(
    marked.map(({ name }) => name),
    ['a', 'c'],
  )
})
