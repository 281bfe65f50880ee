/** Tests the checks of `cluster.expect`, and the messages of waits that fail. */
import assert from 'node:assert/strict'
import { after, afterEach, before, suite, test } from 'node:test'
import { CoreV1Api } from '@kubernetes/client-node'
import { type Cluster, startCluster } from '../../src/entry/testing/index.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const path = `${configMaps}/x`
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }
/** A timeout for checks that fail. */
const timeoutMs = 50

/** Returns the message with which a wait fails, without the times of requests. */
async function messageOf(waiting: Promise<unknown>): Promise<string> {
  const error: unknown = await waiting.then(
    () => assert.fail('the wait does not fail'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof Error)
  return error.message.replaceAll(/\b\d\d:\d\d:\d\d\.\d{3}\b/g, 'TIME')
}

suite('cluster.expect waits until objects are as expected', () => {
  let cluster: Cluster
  before(async () => {
    cluster = await startCluster()
  })
  after(() => cluster.stop())
  afterEach(() => cluster.reset())

  const create = (data: object = {}) =>
    cluster.request({ method: 'POST', path: configMaps, body: { ...configMap, data } })

  test('a wait that fails describes the object that its condition reads', async () => {
    await create({ a: '1' })
    const core = await cluster.client(CoreV1Api, { name: 'alice', groups: ['system:masters'] })
    const body = { metadata: { name: 'x' }, data: { a: '2' } }
    await core.replaceNamespacedConfigMap({
      namespace: 'default',
      name: 'x',
      body,
      fieldManager: 'shop',
    })
    await cluster.request({ method: 'DELETE', path, user: { name: 'mallory' } })
    const waiting = cluster.waitFor(async () => (await cluster.request({ path })).status === 404, {
      timeoutMs,
      what: 'the deletion',
    })
    assert.equal(
      await messageOf(waiting),
      `timed out after 50 ms waiting for the deletion
  condition: async () => (await cluster.request({ path })).status === 404
  last value: false
  the last writes and refused requests of configmaps default/x:
    TIME kubernetes-admin create configmaps default/x
    TIME alice (shop) update configmaps default/x: .data.a '1' -> '2'
    TIME mallory delete configmaps default/x: refused with 403 Forbidden, configmaps "x" is forbidden: User "mallory" cannot delete resource "configmaps" in API group "" in the namespace "default"`,
    )
  })

  test('if a wait reads objects with another client, the error of the wait lists the last requests', async () => {
    const core = await cluster.client(CoreV1Api)
    await create()
    const read = () => core.readNamespacedConfigMap({ namespace: 'default', name: 'y' })
    const message = await messageOf(cluster.waitFor(read, { timeoutMs }))
    assert.match(message, /\n {2}last error: .*configmaps .*y.* not found/)
    assert.match(message, /\n {2}the last writes and refused requests:\n/)
    assert.match(message, /\n {4}TIME kubernetes-admin create configmaps default\/x$/m)
  })

  test('toExist and toBeDeleted wait for an object', async () => {
    const existing = cluster.expect(configMap).toExist()
    await create({ a: '1' })
    const object = await existing
    assert.equal(object.metadata.name, 'x')
    const deleted = cluster.expect(object).toBeDeleted()
    await cluster.request({ method: 'DELETE', path })
    await deleted
  })

  test('toHaveCondition waits for the status of a condition', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }
    await cluster.request({ method: 'POST', path: '/api/v1/namespaces', body: namespace })
    const ready = cluster.expect(namespace).toHaveCondition('Ready')
    const conditions = [{ type: 'Ready', status: 'True' }]
    const status = '/api/v1/namespaces/n/status'
    await cluster.request({ method: 'PATCH', path: status, body: { status: { conditions } } })
    assert.equal((await ready).metadata.name, 'n')
    const done = cluster
      .expect('/api/v1/namespaces/n')
      .toHaveCondition('Done', 'True', { timeoutMs })
    assert.match(
      await messageOf(done),
      /^timed out after 50 ms waiting for namespaces n to have the condition Done=True\n {2}last value: there is no condition Done, only Ready=True\n {2}the last writes and refused requests of namespaces n:\n/,
    )
    const failing = [{ type: 'Ready', status: 'False', reason: 'Broken', message: 'no disk' }]
    await cluster.request({
      method: 'PATCH',
      path: status,
      body: { status: { conditions: failing } },
    })
    assert.match(
      await messageOf(cluster.expect(namespace).toHaveCondition('Ready', 'True', { timeoutMs })),
      /waiting for Namespace n to have .*\n {2}last value: Ready=False \(Broken: no disk\)\n/,
    )
  })

  test('toMatchObject waits for the values of fields', async () => {
    await create({ a: '1', b: '2' })
    await cluster.expect(path).toMatchObject({ data: { b: '2' } })
    const other = cluster.expect(configMap).toMatchObject({ data: { a: '2' } }, { timeoutMs })
    assert.equal(
      await messageOf(other),
      `timed out after 50 ms waiting for ConfigMap x to match
  last value: .data.a is '1' instead of '2'
  the last writes and refused requests of configmaps default/x:
    TIME kubernetes-admin create configmaps default/x`,
    )
  })

  test('the error of a failed check states the reason', async () => {
    await create()
    assert.match(
      await messageOf(cluster.expect(path).toBeDeleted({ timeoutMs })),
      /\n {2}last value: the object exists and is not being deleted\n/,
    )
    await cluster.request({
      method: 'PATCH',
      path,
      body: { metadata: { finalizers: ['example.com/wait'] } },
    })
    await cluster.request({ method: 'DELETE', path })
    assert.match(
      await messageOf(cluster.expect(path).toBeDeleted({ timeoutMs })),
      /\n {2}last value: the object is being deleted since .* and waits for example.com\/wait\n/,
    )
    const unknown = { ...configMap, kind: 'Tea' }
    assert.match(
      await messageOf(cluster.expect(unknown).toExist({ timeoutMs })),
      /\n {2}last error: the server has no kind Tea in v1\n/,
    )
    assert.match(
      await messageOf(cluster.expect(`${configMaps}/y`).toExist({ timeoutMs })),
      /\n {2}last value: the object does not exist\n/,
    )
  })

  test('the message of a check contains no data of Secrets', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }
    const data = { password: 'dG9wIHNlY3JldA==' }
    const secrets = '/api/v1/namespaces/default/secrets'
    await cluster.request({ method: 'POST', path: secrets, body: { ...secret, data } })
    const check = cluster.expect(secret).toMatchObject({ data: { password: '' } }, { timeoutMs })
    const message = await messageOf(check)
    assert.match(message, /\n {2}last value: \.data\.password is \(hidden\)\n/)
    assert.doesNotMatch(message, /dG9w/)
  })

  test('cluster.expect rejects a reference that does not name a single object', () => {
    for (const reference of ['/api/v1/pods', '/readyz', {}, { apiVersion: 'v1', kind: 'Pod' }])
      assert.throws(() => cluster.expect(reference), /^TypeError: expect needs an object/)
  })
})
