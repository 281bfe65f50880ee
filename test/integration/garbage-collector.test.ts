/** Tests the garbage collector inside the server, on a real etcd. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/harness/until.ts'
import { type Client, clients, startTestServer, type TestServer } from './support.ts'

let server: TestServer
let client: Client

before(async () => {
  server = await startTestServer([
    '--controllers=garbage-collector-controller',
    '--authorization-mode=RBAC',
  ])
  client = clients['HTTP/2']?.(server.url) ?? assert.fail()
})
after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

type Owner = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly uid: string }
}

const configMaps = '/api/v1/namespaces/default/configmaps'

async function post(path: string, body: object): Promise<Owner> {
  const { status, text } = await client.call({ method: 'POST', path, body })
  assert.equal(status, 201, text)
  return JSON.parse(text)
}

const ownedBy = (owners: readonly Owner[], more: object = {}) => ({
  ownerReferences: owners.map(({ apiVersion, kind, metadata: { name, uid } }) => ({
    apiVersion,
    kind,
    name,
    uid,
    ...more,
  })),
})

const create = (name: string, metadata: object = {}): Promise<Owner> =>
  post(configMaps, { metadata: { name, ...metadata } })

const remove = (path: string, propagationPolicy?: string) =>
  client.call({
    method: 'DELETE',
    path,
    body: propagationPolicy === undefined ? undefined : { propagationPolicy },
  })

async function read(path: string) {
  const { status, text } = await client.call({ path })
  return status === 200 ? JSON.parse(text) : undefined
}

const isGone = (name: string) => async (): Promise<boolean> =>
  (await read(`${configMaps}/${name}`)) === undefined

test('direct and indirect dependents of a deleted owner are deleted, unless they have another owner', async () => {
  const owner = await create('root')
  const other = await create('other')
  const child = await create('child', ownedBy([owner]))
  await create('grandchild', ownedBy([child]))
  await create('shared', ownedBy([owner, other]))
  await remove(`${configMaps}/root`)
  await until(isGone('grandchild'), 'the grandchild is gone')
  await until(
    async () => (await read(`${configMaps}/shared`)).metadata.ownerReferences.length === 1,
    'the reference is gone',
  )
  assert.equal(
    (await read(`${configMaps}/shared`)).metadata.ownerReferences[0].uid,
    other.metadata.uid,
  )
})

test('with foreground deletion, the owner is deleted after the dependents that block it', async () => {
  const owner = await create('front')
  await create('blocking', {
    ...ownedBy([owner], { blockOwnerDeletion: true }),
    finalizers: ['example.com/hold'],
  })
  await create('other-dependent', ownedBy([owner]))
  await remove(`${configMaps}/front`, 'Foreground')
  await until(isGone('other-dependent'), 'the dependent that does not block is gone')
  await until(
    async () => (await read(`${configMaps}/blocking`)).metadata.deletionTimestamp !== undefined,
    'the blocking dependent is marked',
  )
  assert.deepEqual((await read(`${configMaps}/front`)).metadata.finalizers, ['foregroundDeletion'])
  const headers = { 'content-type': 'application/merge-patch+json' }
  await client.call({
    method: 'PATCH',
    path: `${configMaps}/blocking`,
    headers,
    body: { metadata: { finalizers: null } },
  })
  await until(isGone('front'), 'the owner is gone')
})

test('two objects that own and block each other are deleted', async () => {
  const one = await create('circle-one')
  const two = await create('circle-two', ownedBy([one], { blockOwnerDeletion: true }))
  const headers = { 'content-type': 'application/merge-patch+json' }
  const body = { metadata: ownedBy([two], { blockOwnerDeletion: true }) }
  await client.call({ method: 'PATCH', path: `${configMaps}/circle-one`, headers, body })
  await remove(`${configMaps}/circle-one`, 'Foreground')
  await until(isGone('circle-one'), 'the first is gone')
  await until(isGone('circle-two'), 'the second is gone')
})

test('orphaned dependents are kept, but lose the reference to their owner', async () => {
  const owner = await create('parent')
  for (let at = 0; at < 20; at++) await create(`orphan-${at}`, ownedBy([owner]))
  await remove(`${configMaps}/parent`, 'Orphan')
  await until(isGone('parent'), 'the owner is gone')
  await sleep(500)
  for (let at = 0; at < 20; at++) {
    const orphan = await read(`${configMaps}/orphan-${at}`)
    assert.equal(orphan.metadata.ownerReferences, undefined, `orphan-${at}`)
  }
})

test("a dependent of a missing owner is deleted, but not if the owner's kind is unknown", async () => {
  const absent = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'never', uid: 'none' } }
  await create('garbage', ownedBy([absent]))
  const unknown = {
    apiVersion: 'example.com/v1',
    kind: 'Nobody',
    metadata: { name: 'x', uid: 'unknown' },
  }
  await create('doubted', ownedBy([unknown]))
  await create('half', ownedBy([absent, unknown]))
  await until(isGone('garbage'), 'the object is gone')
  const metadata = ownedBy([absent])
  await post('/api/v1/nodes', { metadata: { name: 'cluster-wide', ...metadata } })
  await sleep(500)
  assert.ok(
    (await read(`${configMaps}/doubted`)) &&
      (await read(`${configMaps}/half`)) &&
      (await read('/api/v1/nodes/cluster-wide')),
  )
})

test('an owner in another namespace counts as missing and is reported in an Event, but a cluster-scoped owner is valid', async () => {
  const owner = await post('/api/v1/namespaces/kube-public/configmaps', {
    metadata: { name: 'far' },
  })
  const node = await post('/api/v1/nodes', { metadata: { name: 'node' } })
  await create('on-node', ownedBy([node]))
  await create('near', ownedBy([owner]))
  await until(isGone('near'), 'the object is gone')
  const { items } = await read('/api/v1/namespaces/default/events')
  const reported = items.find(
    ({ reason }: { reason: string }) => reason === 'OwnerRefInvalidNamespace',
  )
  const identity = `[v1/ConfigMap, namespace: default, name: far, uid: ${owner.metadata.uid}]`
  assert.equal(reported?.message, `ownerRef ${identity} does not exist in namespace "default"`)
  assert.ok(await read(`${configMaps}/on-node`))
  await remove('/api/v1/nodes/node')
  await until(isGone('on-node'), 'the object goes with its node')
})

test('custom objects can be owners and dependents, and are deleted with their definition', async () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  await post(definitions, {
    metadata: { name: 'lamps.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'lamps', kind: 'Lamp' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  })
  const lamps = '/apis/example.com/v1/namespaces/default/lamps'
  await until(async () => (await read(lamps)) !== undefined, 'lamps are served')
  const owner = await create('of-lamps')
  const lamp = await post(lamps, {
    apiVersion: 'example.com/v1',
    kind: 'Lamp',
    metadata: { name: 'l', ...ownedBy([owner]) },
  })
  const other = await post(lamps, {
    apiVersion: 'example.com/v1',
    kind: 'Lamp',
    metadata: { name: 'm' },
  })
  await create('of-lamp', ownedBy([lamp]))
  await create('of-other', ownedBy([other]))
  await remove(`${configMaps}/of-lamps`)
  await until(isGone('of-lamp'), 'the object goes with the lamp')
  await remove(`${definitions}/lamps.example.com`)
  await until(isGone('of-other'), 'the object goes with the definition')
})

test('the server logs no warnings or errors while the tests of this file run', () =>
  assert.deepEqual(server.complaints, []))
