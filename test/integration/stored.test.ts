/** Tests values in etcd: their lifetime, and how values that other servers wrote are read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EtcdClient } from '../../src/storage/etcd/client.ts'
import { until } from '../support/harness/until.ts'
import { clients, startReplica, startTestServer } from './support.ts'

test('only built-in Events expire, not custom objects of a kind that is also named Event', async () => {
  await using server = await startTestServer()
  await using client = (clients['HTTP/2'] ?? assert.fail())(server.url)
  await using etcd = new EtcdClient({ endpoints: [server.etcdUrl] })
  const versions = [
    { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
  ]
  const spec = {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Event', plural: 'events' },
    versions,
  }
  const definition = { metadata: { name: 'events.example.com' }, spec }
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  assert.equal(
    (await client.call({ method: 'POST', path: definitions, body: definition })).status,
    201,
  )
  const path = '/apis/example.com/v1/namespaces/default/events'
  const body = { apiVersion: 'example.com/v1', kind: 'Event', metadata: { name: 'mine' } }
  await until(
    async () => (await client.call({ method: 'POST', path, body })).status === 201,
    'the custom kind is served',
  )
  const about = { kind: 'Pod', namespace: 'default', name: 'p' }
  const event = { metadata: { name: 'built-in' }, involvedObject: about }
  const made = await client.call({
    method: 'POST',
    path: '/api/v1/namespaces/default/events',
    body: event,
  })
  assert.equal(made.status, 201)
  const leaseOf = async (key: string): Promise<bigint | number | undefined> =>
    (await etcd.kv.range({ key: Buffer.from(key) })).kvs[0]?.lease
  assert.notEqual(BigInt((await leaseOf('/registry/events/default/built-in')) ?? 0), 0n)
  assert.equal(BigInt((await leaseOf('/registry/example.com/events/default/mine')) ?? -1), 0n)
})

test('an update without changes rewrites an object that is stored in an old version', async () => {
  await using server = await startTestServer()
  await using client = (clients['HTTP/2'] ?? assert.fail())(server.url)
  await using etcd = new EtcdClient({ endpoints: [server.etcdUrl] })
  const key = Buffer.from('/registry/roles/default/old')
  const metadata = {
    name: 'old',
    namespace: 'default',
    uid: 'u',
    creationTimestamp: '2020-01-01T00:00:00Z',
  }
  const stored = {
    kind: 'Role',
    apiVersion: 'rbac.authorization.k8s.io/v1beta1',
    metadata,
    rules: [],
  }
  await etcd.kv.put({ key, value: Buffer.from(JSON.stringify(stored)) })
  const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/old'
  const versionOf = async (method: 'GET' | 'PUT', body?: unknown): Promise<string> => {
    const answer = await client.call({ method, path, ...(body === undefined ? {} : { body }) })
    assert.equal(answer.status, 200)
    return JSON.parse(answer.text).metadata.resourceVersion
  }
  // List the objects, so that the cache contains the serialized form of this object instead of the
  // stored form.
  assert.equal((await client.call({ method: 'GET', path: path.replace(/.old$/, '') })).status, 200)
  const before = await versionOf('GET')
  const { apiVersion: _, ...same } = stored
  const after = await versionOf('PUT', { ...same, apiVersion: 'rbac.authorization.k8s.io/v1' })
  assert.notEqual(after, before)
  const [found] = (await etcd.kv.range({ key })).kvs
  assert.match(found?.value.toString() ?? '', /"apiVersion":"rbac\.authorization\.k8s\.io\/v1"/)
  assert.equal(
    await versionOf('PUT', { ...same, apiVersion: 'rbac.authorization.k8s.io/v1' }),
    after,
  )
})

test('an update without changes stores the defaults that were added to the kind of a custom object', async () => {
  await using server = await startTestServer()
  await using client = (clients['HTTP/2'] ?? assert.fail())(server.url)
  await using etcd = new EtcdClient({ endpoints: [server.etcdUrl] })
  const schema = { openAPIV3Schema: { type: 'object', properties: { color: { type: 'string' } } } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const spec = {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions,
  }
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const definition = { metadata: { name: 'widgets.example.com' }, spec }
  assert.equal(
    (await client.call({ method: 'POST', path: definitions, body: definition })).status,
    201,
  )
  const path = '/apis/example.com/v1/namespaces/default/widgets'
  const patch = (target: string, body: unknown): ReturnType<typeof client.call> =>
    client.call({
      method: 'PATCH',
      path: target,
      body,
      headers: { 'content-type': 'application/merge-patch+json' },
    })
  const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } }
  await until(
    async () => (await client.call({ method: 'POST', path, body })).status === 201,
    'the custom kind is served',
  )
  const withDefault = {
    ...schema,
    openAPIV3Schema: { type: 'object', properties: { color: { type: 'string', default: 'red' } } },
  }
  const changed = [{ name: 'v1', served: true, storage: true, schema: withDefault }]
  assert.equal(
    (await patch(`${definitions}/widgets.example.com`, { spec: { versions: changed } })).status,
    200,
  )
  const get = async (): Promise<string> =>
    (await client.call({ method: 'GET', path: `${path}/w` })).text
  await until(async () => JSON.parse(await get()).color === 'red', 'the default is applied')
  const before = JSON.parse(await get()).metadata.resourceVersion
  const after = JSON.parse((await patch(`${path}/w`, {})).text).metadata.resourceVersion
  assert.notEqual(after, before)
  const [found] = (
    await etcd.kv.range({ key: Buffer.from('/registry/example.com/widgets/default/w') })
  ).kvs
  assert.match(found?.value.toString() ?? '', /"color":"red"/)
  assert.equal(JSON.parse((await patch(`${path}/w`, {})).text).metadata.resourceVersion, after)
})

const mapKey = (name: string): Buffer => Buffer.from(`/registry/configmaps/default/${name}`)

test('an unreadable object can only be deleted with the feature gate and an explicit option', async () => {
  await using server = await startTestServer()
  await using unsafe = await startReplica(server, [
    '--feature-gates=AllowUnsafeMalformedObjectDeletion=true',
  ])
  await using etcd = new EtcdClient({ endpoints: [server.etcdUrl] })
  const path = '/api/v1/namespaces/default/configmaps'
  const body = { kind: 'DeleteOptions', ignoreStoreReadErrorWithClusterBreakingPotential: true }
  const remove = async ({ url }: { readonly url: string }, name: string) => {
    await using client = (clients['HTTP/2'] ?? assert.fail())(url)
    const { status, text } = await client.call({ method: 'DELETE', path: `${path}/${name}`, body })
    return { status, answer: JSON.parse(text) }
  }
  for (const [name, value] of Object.entries({
    broken: '{"kind":',
    encrypted: 'k8s:enc:aesgcm:v1:k:x',
  })) {
    await etcd.kv.put({ key: mapKey(name), value: Buffer.from(value) })
    assert.equal((await remove(server, name)).status, 500)
    const { status, answer } = await remove(unsafe, name)
    assert.equal(status, 200)
    assert.deepEqual(answer.details, { name, kind: 'ConfigMap' })
    assert.equal((await etcd.kv.range({ key: mapKey(name) })).kvs.length, 0)
    assert.equal((await remove(unsafe, name)).status, 422)
  }
})

const announced = async ({ url }: { readonly url: string }, name: string): Promise<number> => {
  await using client = (clients['HTTP/2'] ?? assert.fail())(url)
  return (
    await client.call({
      method: 'GET',
      path: `/apis/apiregistration.k8s.io/v1/apiservices/${name}`,
    })
  ).status
}

test('the APIService of a version is deleted by a server on which this version is disabled', async () => {
  const version = 'v1alpha1.storage.k8s.io'
  await using server = await startTestServer(['--runtime-config=storage.k8s.io/v1alpha1=true'])
  await until(async () => (await announced(server, version)) === 200, 'the version is announced')
  await using plain = await startReplica(server)
  await until(async () => (await announced(plain, version)) === 404, 'the version is removed')
  assert.equal(await announced(plain, 'v1.storage.k8s.io'), 200)
})

test('managedFields of an API version that a flag has disabled are shown until the next write drops them', async () => {
  await using server = await startTestServer(['--runtime-config=networking.k8s.io/v1beta1=true'])
  await using client = (clients['HTTP/2'] ?? assert.fail())(server.url)
  const beta = '/apis/networking.k8s.io/v1beta1/servicecidrs'
  const body = { metadata: { name: 'c' }, spec: { cidrs: ['10.77.0.0/24'] } }
  assert.equal((await client.call({ method: 'POST', path: beta, body })).status, 201)
  await using plain = await startReplica(server)
  await using other = (clients['HTTP/2'] ?? assert.fail())(plain.url)
  const path = '/apis/networking.k8s.io/v1/servicecidrs/c'
  const before = JSON.parse((await other.call({ path })).text).metadata
  assert.deepEqual(
    before.managedFields.map(({ apiVersion }: { apiVersion: string }) => apiVersion),
    ['networking.k8s.io/v1beta1'],
  )
  // As in kube-apiserver, an empty patch writes the object, because it removes the field owners of
  // the disabled version.
  const headers = { 'content-type': 'application/merge-patch+json' }
  const after = JSON.parse(
    (await other.call({ method: 'PATCH', path, headers, body: {} })).text,
  ).metadata
  assert.equal(after.managedFields, undefined)
  assert.notEqual(after.resourceVersion, before.resourceVersion)
})

test('a webhook configuration that cannot be decoded blocks writes, but a server can still start', async () => {
  await using first = await startTestServer()
  await using etcd = new EtcdClient({ endpoints: [first.etcdUrl] })
  const key = Buffer.from('/registry/validatingwebhookconfigurations/broken')
  await etcd.kv.put({ key, value: Buffer.from('k8s\0broken') })
  await using second = await startReplica(first)
  for (const { url } of [first, second]) {
    await using client = (clients['HTTP/2'] ?? assert.fail())(url)
    const create = () =>
      client.call({
        method: 'POST',
        path: '/api/v1/namespaces/default/configmaps?dryRun=All',
        body: { metadata: { name: 'c' } },
      })
    let answer = await create()
    await until(async () => (answer = await create()).status !== 201, 'writes are stopped')
    assert.equal(answer.status, 403)
    assert.match(answer.text, /the stored webhook configuration \\"broken\\" cannot be decoded/)
  }
  await etcd.kv.deleteRange({ key })
  await using client = (clients['HTTP/2'] ?? assert.fail())(second.url)
  const create = {
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    body: { metadata: { name: 'c' } },
  }
  await until(async () => (await client.call(create)).status === 201, 'writes continue')
})
