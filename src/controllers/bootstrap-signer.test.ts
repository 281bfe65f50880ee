import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fields, fieldsOf, type KubeObject, textOf } from '../api/object.ts'
import { silent } from '../lib/telemetry/log.ts'
import { Metrics } from '../lib/telemetry/metrics.ts'
import { builtIn, MemoryControlPlane } from '../../test/support/harness/memory-control-plane.ts'
import { signClusterInfo, tokenOf, withSignatures } from './bootstrap-signer.ts'
import { QueueMetrics } from '../lib/telemetry/queue-metrics.ts'
import type { CacheAccess, CacheAccessOf } from './cache-access.ts'

const clusterInfo = (data: Fields): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'cluster-info', namespace: 'kube-public' },
  data,
})

test('the kubeconfig in cluster-info is signed with each bootstrap token, and signatures of deleted tokens are removed', () => {
  const data = {
    kubeconfig: 'content',
    other: 'kept',
    'jws-kubeconfig-aaaaaa': 'old',
    'jws-kubeconfig-abcdef': 'old',
  }
  const signed = withSignatures(clusterInfo(data), [{ id: 'abcdef', secret: 'secret' }])
  // The header of the signature as go-jose encodes it.
  const jws = 'eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..'
  const after = fieldsOf(signed?.['data'])
  assert.deepEqual(Object.keys(after).toSorted(), ['jws-kubeconfig-abcdef', 'kubeconfig', 'other'])
  assert.ok(textOf(after['jws-kubeconfig-abcdef']).startsWith(jws))
  assert.equal(withSignatures(clusterInfo(after), [{ id: 'abcdef', secret: 'secret' }]), undefined)
  assert.notEqual(
    withSignatures(clusterInfo(after), [{ id: 'abcdef', secret: 'other' }]),
    undefined,
  )
  assert.equal(
    withSignatures(clusterInfo({ other: 'x' }), [{ id: 'abcdef', secret: 'secret' }]),
    undefined,
  )
})

const encode = (data: Readonly<Record<string, string>>): Fields =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  )

test('signatures are created only for tokens that allow signing and whose Secret has the right name', () => {
  const good = { 'token-id': 'abcdef', 'token-secret': 's', 'usage-bootstrap-signing': 'true' }
  const of = (data: Readonly<Record<string, string>>, name = 'bootstrap-token-abcdef') =>
    tokenOf(name, { type: 'bootstrap.kubernetes.io/token', data: encode(data) })
  assert.deepEqual(of(good), { id: 'abcdef', secret: 's', endMs: Infinity })
  assert.equal(of({ ...good, expiration: '2026-01-01T00:00:00Z' })?.endMs, Date.UTC(2026, 0, 1))
  assert.equal(of({ ...good, expiration: 'soon' })?.endMs, 0)
  assert.equal(of(good, 'bootstrap-token-abcdee'), undefined)
  assert.equal(of({ ...good, 'usage-bootstrap-signing': 'yes' }), undefined)
  assert.equal(of({ ...good, 'token-secret': '' }), undefined)
  assert.equal(tokenOf('bootstrap-token-abcdef', { type: 'Opaque', data: encode(good) }), undefined)
})

test('if the controller stops before the bootstrap tokens are listed, the signatures in cluster-info do not change', async () => {
  const [configMaps, secrets] = [builtIn('configmaps'), builtIn('secrets')]
  await using plane = await MemoryControlPlane.start([configMaps, secrets])
  const data = {
    kubeconfig: 'content',
    'jws-kubeconfig-abcdef': 'of a token that is not listed yet',
  }
  await plane.create(configMaps, clusterInfo(data))
  const isRead = Promise.withResolvers<void>()
  const opening = Promise.withResolvers<void>()
  const accessOf: CacheAccessOf = (resource) => {
    const access = plane.accessOf(resource)
    const { reader } = access
    const held: CacheAccess['reader'] = {
      known: () => reader.known(),
      get: (key, at) => {
        if (resource.plural === 'configmaps') isRead.resolve()
        return reader.get(key, at)
      },
      list: (range, at, options) => reader.list(range, at, options),
      watch: async (options) => {
        if (resource.plural === 'secrets') await opening.promise
        return reader.watch(options)
      },
    }
    return { ...access, reader: held }
  }
  const { handle, registry } = plane
  const parts = {
    handle,
    registry,
    accessOf,
    metrics: new QueueMetrics(new Metrics()),
    log: silent,
  }
  const signer = signClusterInfo(() => Date.now(), parts)
  await isRead.promise
  const stopped = signer[Symbol.asyncDispose]()
  opening.resolve()
  await stopped
  const { keys, reader } = plane.accessOf(configMaps)
  const { item } = await reader.get(keys.key('kube-public', 'cluster-info'), 'latest')
  assert.deepEqual(item?.object()['data'], data)
})
