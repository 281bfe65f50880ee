/** Tests which writes and refused requests the timeline of keelson/testing clusters contains. */
import assert from 'node:assert/strict'
import { after, afterEach, before, suite, test } from 'node:test'
import { CoreV1Api } from '@kubernetes/client-node'
import { type Cluster, startCluster, type TimelineEntry } from '../../src/entry/testing/index.ts'

const namespace = 'default'
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`
const secrets = `/api/v1/namespaces/${namespace}/secrets`

/** Returns the parts of a timeline entry that do not change with each run. */
const partsOf = (entry: TimelineEntry): unknown => {
  const { operation, verb, name, user, source } = entry
  const common = { operation, verb, name, user: user?.name, source }
  if (entry.operation !== 'refused') return { ...common, changes: entry.changes }
  return { ...common, code: entry.code, reason: entry.reason }
}

suite('the timeline of a keelson/testing cluster is complete', () => {
  let cluster: Cluster
  before(async () => {
    cluster = await startCluster()
  })
  after(() => cluster.stop())
  afterEach(() => cluster.reset())

  test('the timeline contains writes and refused requests in their order', async () => {
    const core = await cluster.client(CoreV1Api, { name: 'alice', groups: ['system:masters'] })
    const mallory = await cluster.client(CoreV1Api, { name: 'mallory' })
    const body = { metadata: { name: 'x' }, data: { a: '1' } }
    await core.createNamespacedConfigMap({ namespace, body, fieldManager: 'one' })
    await assert.rejects(core.createNamespacedConfigMap({ namespace, body }), { code: 409 })
    const path = `${configMaps}/x`
    await cluster.request({ method: 'PATCH', path, body: { data: { a: '2', b: '3' } } })
    await assert.rejects(mallory.deleteNamespacedConfigMap({ namespace, name: 'x' }), { code: 403 })
    await core.deleteNamespacedConfigMap({ namespace, name: 'x' })
    await assert.rejects(core.readNamespacedConfigMap({ namespace, name: 'x' }), { code: 404 })

    const entries = cluster.timeline({ resource: 'configmaps', name: 'x' })
    const alice = { user: 'alice', source: 'client', name: 'x' }
    assert.deepEqual(entries.map(partsOf), [
      { ...alice, operation: 'create', verb: 'create', changes: [] },
      { ...alice, operation: 'refused', verb: 'create', code: 409, reason: 'AlreadyExists' },
      {
        operation: 'update',
        verb: 'patch',
        name: 'x',
        user: 'kubernetes-admin',
        source: 'test',
        changes: [
          { path: '.data.a', before: '1', after: '2' },
          { path: '.data.b', before: undefined, after: '3' },
        ],
      },
      {
        operation: 'refused',
        verb: 'delete',
        name: 'x',
        user: 'mallory',
        source: 'client',
        code: 403,
        reason: 'Forbidden',
      },
      { ...alice, operation: 'delete', verb: 'delete', changes: [] },
    ])
    const [created, refused] = entries
    assert.equal(created?.fieldManager, 'one')
    assert.ok(refused?.operation === 'refused')
    assert.equal(refused.message, 'configmaps "x" already exists')
    assert.notEqual(refused.userAgent, '')
    assert.ok(Math.abs(refused.time.getTime() - Date.now()) < 60_000)
  })

  test('a filter selects entries of the timeline', async () => {
    const body = { metadata: { name: 'x' } }
    const create = () => cluster.request({ method: 'POST', path: configMaps, body })
    await create()
    await create()
    const [write] = cluster.timeline({ name: 'x' })
    assert.ok(write?.operation === 'create')
    const later = cluster.timeline({ name: 'x', after: write.resourceVersion })
    assert.deepEqual(
      later.map(({ operation }) => operation),
      ['refused'],
    )
    assert.equal(cluster.timeline({ name: 'x', group: '' }).length, 2)
    assert.deepEqual(cluster.timeline({ name: 'x', group: 'apps' }), [])
    assert.deepEqual(cluster.timeline({ name: 'x', source: 'client' }), [])
  })

  test('the timeline contains requests that a fault refused', async () => {
    const core = await cluster.client(CoreV1Api)
    using _ = cluster.faults.on({ resource: 'configmaps' }, { status: 503 })
    const body = { metadata: { name: 'faulty' } }
    await assert.rejects(core.createNamespacedConfigMap({ namespace, body }), { code: 503 })
    assert.deepEqual(cluster.timeline({ name: 'faulty' }).map(partsOf), [
      {
        operation: 'refused',
        verb: 'create',
        name: 'faulty',
        user: undefined,
        source: 'client',
        code: 503,
        reason: 'ServiceUnavailable',
      },
    ])
  })

  test('the timeline contains no data of Secrets', async () => {
    const hidden = Buffer.from('top secret').toString('base64')
    const body = { metadata: { name: 's' }, data: { password: hidden }, type: 'Opaque' }
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': hidden }
    const path = `${secrets}/s`
    await cluster.request({ method: 'POST', path: secrets, body })
    const data = { password: Buffer.from('other').toString('base64'), token: hidden }
    await cluster.request({ method: 'PATCH', path, body: { data, metadata: { annotations } } })
    await cluster.request({ method: 'PATCH', path, body: { data: { password: [hidden] } } })
    await cluster.request({ method: 'PATCH', path, body: { type: hidden } })
    const text = JSON.stringify(cluster.timeline({ name: 's' }))
    assert.match(text, /"\.data\.password","before":"\(hidden\)","after":"\(hidden\)"/)
    assert.equal(cluster.timeline({ name: 's', verb: 'patch' }).length, 3)
    assert.doesNotMatch(text, new RegExp(`${hidden}|${data.password}`))
  })

  test('the timeline is empty in a fork, and after a reset', async () => {
    const body = { metadata: { name: 'x' } }
    await cluster.request({ method: 'POST', path: configMaps, body })
    await cluster.request({ method: 'POST', path: configMaps, body })
    await using fork = await cluster.fork()
    assert.deepEqual(fork.timeline(), [])
    await fork.request({ method: 'POST', path: configMaps, body })
    const isRefused = fork.timeline({ name: 'x' }).map(({ operation }) => operation)
    assert.deepEqual(isRefused, ['refused'])
    await cluster.reset()
    assert.deepEqual(cluster.timeline(), [])
  })
})
