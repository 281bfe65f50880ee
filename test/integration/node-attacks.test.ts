/**
 * Tests that stolen credentials of a kubelet do not give access to other nodes, by any verb, path
 * or selector. Each attack must fail.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/harness/until.ts'
import {
  adminToken,
  type Client,
  clients,
  startReplica,
  startTestServer,
  type TestServer,
} from './support.ts'

const flags = ['--authorization-mode=Node,RBAC', '--enable-admission-plugins=NodeRestriction']
let server: TestServer | undefined
let client: Client | undefined

before(async () => {
  server = await startTestServer(flags)
  client = clients['HTTP/2']?.(server.url)
  await prepare()
})

after(async () => {
  await client?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
  assert.deepEqual(server?.complaints, [])
})

type RequestOptions = {
  readonly body?: unknown
  readonly type?: string
  readonly as?: string
  readonly group?: string
}

async function call(
  method: string,
  path: string,
  { body, type, as, group = 'system:nodes' }: RequestOptions = {},
) {
  assert.ok(client)
  const headers = {
    ...(type === undefined ? {} : { 'content-type': type }),
    ...(as === undefined ? {} : { 'impersonate-user': as, 'impersonate-group': group }),
  }
  const { status, text } = await client.call({
    method,
    path,
    token: adminToken,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  return { status, body: text.startsWith('{') ? JSON.parse(text) : { message: text } }
}

const core = '/api/v1/namespaces/default'
const merge = 'application/merge-patch+json'
const jsonPatch = 'application/json-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const apply = 'application/apply-patch+yaml'
const one = 'system:node:one'
const asOne = (method: string, path: string, sent: RequestOptions = {}) =>
  call(method, path, { ...sent, as: one })

const containers = [{ name: 'c', image: 'i' }]
const pod = (name: string, nodeName: string, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { nodeName, containers, ...spec },
})
const uids = new Map<string, string>()

async function create(path: string, body: object): Promise<void> {
  const answer = await call('POST', path, { body })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  uids.set(answer.body.metadata.name, answer.body.metadata.uid)
}

/**
 * Creates the nodes one and two, each with a pod that refers to a secret, a config map, a claim and
 * an account.
 */
async function prepare(): Promise<void> {
  for (const node of ['one', 'two']) {
    await create('/api/v1/nodes', {
      metadata: { name: node, labels: { 'node-restriction.kubernetes.io/pci': 'no' } },
    })
    for (const plural of ['secrets', 'configmaps', 'serviceaccounts']) {
      await create(`${core}/${plural}`, { metadata: { name: `of-${node}` } })
    }
    const resources = { requests: { storage: '1Gi' } }
    const claim = {
      accessModes: ['ReadWriteOnce'],
      resources,
      storageClassName: '',
      volumeName: `disk-${node}`,
    }
    await create(`${core}/persistentvolumeclaims`, {
      metadata: { name: `of-${node}` },
      spec: claim,
    })
    await create('/api/v1/persistentvolumes', {
      metadata: { name: `disk-${node}` },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        claimRef: { namespace: 'default', name: `of-${node}` },
        csi: {
          driver: 'd',
          volumeHandle: 'h',
          nodeStageSecretRef: { namespace: 'default', name: `disk-of-${node}` },
        },
      },
    })
    await create(
      `${core}/pods`,
      pod(`on-${node}`, node, {
        serviceAccountName: `of-${node}`,
        volumes: [
          { name: 's', secret: { secretName: `of-${node}` } },
          { name: 'm', configMap: { name: `of-${node}` } },
          { name: 'c', persistentVolumeClaim: { claimName: `of-${node}` } },
        ],
      }),
    )
  }
  for (const path of [`${core}/pods/on-one`, '/api/v1/persistentvolumes/disk-one'])
    await until(
      async () => (await asOne('GET', path)).status === 200,
      `the graph of nodes has ${path}`,
    )
}

/** Checks that each attack is rejected with 403. */
async function refused(
  attacks: readonly (readonly [string, string, RequestOptions?])[],
): Promise<void> {
  for (const [method, path, sent] of attacks) {
    const { status, body } = await asOne(method, path, sent)
    assert.equal(
      status,
      403,
      `${method} ${path} ${JSON.stringify(sent ?? {})}: ${JSON.stringify(body)}`,
    )
  }
}

test('a node can read its own objects, so the rejections of other reads are meaningful', async () => {
  for (const path of [
    'secrets/of-one',
    'configmaps/of-one',
    'persistentvolumeclaims/of-one',
    'pods/on-one',
  ]) {
    assert.equal((await asOne('GET', `${core}/${path}`)).status, 200, path)
  }
  assert.equal((await asOne('GET', `${core}/secrets/disk-of-one`)).status, 404)
})

test('a node cannot read objects of another node', async () => {
  const selected = (selector: string): string =>
    `${core}/secrets?fieldSelector=${encodeURIComponent(selector)}`
  await refused([
    ['GET', `${core}/secrets/of-two`],
    ['GET', `${core}/secrets/disk-of-two`],
    ['GET', `${core}/configmaps/of-two`],
    ['GET', `${core}/persistentvolumeclaims/of-two`],
    ['GET', '/api/v1/persistentvolumes/disk-two'],
    ['GET', `${core}/pods/on-two`],
    ['GET', '/api/v1/nodes/two'],
    ['GET', `${core}/secrets`],
    ['GET', '/api/v1/secrets'],
    ['GET', `${core}/secrets?watch=1`],
    ['GET', `/api/v1/watch/namespaces/default/secrets?fieldSelector=metadata.name%3Dof-one`],
    ['GET', `/api/v1/watch/namespaces/default/secrets/of-two`],
    ['GET', selected('metadata.name=of-two')],
    ['GET', selected('metadata.name!=of-one')],
    ['GET', selected('metadata.name=of-two,metadata.name=of-one')],
    ['GET', selected(`metadata.name=of-one,${'metadata.namespace=default,'.repeat(200)}`)],
    ['GET', '/api/v1/pods'],
    ['GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Dtwo'],
    ['GET', '/api/v1/pods?fieldSelector=spec.nodeName%21%3Dtwo'],
    ['GET', '/api/v1/pods?fieldSelector=spec.nodeName'],
    ['GET', '/api/v1/pods?fieldSelector=&fieldSelector=spec.nodeName%3Done'],
    ['GET', '/api/v1/watch/pods?fieldSelector=spec.nodeName%3Done'],
    ['GET', '/api/v1/pods?labelSelector=spec.nodeName%3Done'],
    ['GET', '/api/v1/nodes/two/proxy/'],
    ['GET', `${core}/pods/on-two/log`],
    ['GET', `${core}/secrets/of-one/../of-two`],
  ])
})

test('a node cannot get other objects by adding selectors or pages to the selector that it is required to use', async () => {
  const names = async (path: string): Promise<string[]> => {
    const { status, body } = await asOne('GET', path)
    assert.equal(status, 200, path)
    return body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
  }
  assert.deepEqual(await names('/api/v1/pods?fieldSelector=spec.nodeName%3Done'), ['on-one'])
  assert.deepEqual(
    await names('/api/v1/pods?fieldSelector=spec.nodeName%3Done,spec.nodeName%3Dtwo'),
    [],
  )
  assert.deepEqual(await names('/api/v1/pods?fieldSelector=spec.nodeName%3Done&fieldSelector='), [
    'on-one',
  ])
  assert.deepEqual(
    await names(`${core}/secrets?fieldSelector=metadata.name%3Dof-one,metadata.name%3Dof-two`),
    [],
  )
  assert.deepEqual(
    await names(`${core}/secrets?fieldSelector=metadata.name%3Dof-one&fieldSelector=`),
    ['of-one'],
  )
  const all = await call('GET', `${core}/secrets?limit=1`)
  const next = encodeURIComponent(all.body.metadata.continue)
  const page = await asOne(
    'GET',
    `${core}/secrets?fieldSelector=metadata.name%3Dof-one&limit=1&continue=${next}`,
  )
  assert.ok(!JSON.stringify(page.body).includes('of-two'), 'a page of a list of all')
})

const volume = (source: object): object => ({ volumes: [{ name: 'v', ...source }] })

test('a node can create only its own mirror pods, which give it no further access', async () => {
  const annotations = { 'kubernetes.io/config.mirror': 'x' }
  const owner = {
    apiVersion: 'v1',
    kind: 'Node',
    name: 'one',
    uid: uids.get('one') ?? '',
    controller: true,
  }
  const mirror = (nodeName: string, spec: object = {}): RequestOptions => ({
    body: {
      metadata: { name: 'm', annotations, ownerReferences: [owner] },
      spec: { nodeName, containers, ...spec },
    },
  })
  await refused([
    ['POST', `${core}/pods`, { body: pod('p', 'two') }],
    ['POST', `${core}/pods`, { body: pod('p', 'one') }],
    ['POST', `${core}/pods`, mirror('two')],
    ['POST', `${core}/pods?dryRun=All`, mirror('two')],
    ['POST', `${core}/pods`, mirror('one', volume({ secret: { secretName: 'of-two' } }))],
    ['POST', `${core}/pods`, mirror('one', volume({ configMap: { name: 'of-two' } }))],
    [
      'POST',
      `${core}/pods`,
      mirror('one', volume({ persistentVolumeClaim: { claimName: 'of-two' } })),
    ],
    [
      'POST',
      `${core}/pods`,
      mirror('one', volume({ projected: { sources: [{ secret: { name: 'of-two' } }] } })),
    ],
    ['POST', `${core}/pods`, mirror('one', { serviceAccountName: 'of-two' })],
    ['POST', `${core}/pods`, mirror('one', { imagePullSecrets: [{ name: 'of-two' }] })],
    ['PATCH', `${core}/pods/p?fieldManager=m`, { body: pod('p', 'one'), type: apply }],
    ['PUT', `${core}/pods/p`, { body: pod('p', 'one') }],
    ['PATCH', `${core}/pods/on-one`, { body: { metadata: { labels: { a: 'b' } } }, type: merge }],
    [
      'POST',
      `${core}/pods/on-two/binding`,
      { body: { metadata: { name: 'on-two' }, target: { name: 'one' } } },
    ],
    [
      'POST',
      `${core}/bindings`,
      { body: { metadata: { name: 'on-two' }, target: { name: 'one' } } },
    ],
  ])
  // A mirror Pod that an administrator has created must not give the node access either.
  const spec = volume({ secret: { secretName: 'of-two' } })
  const body = {
    metadata: { name: 'm', annotations, ownerReferences: [owner] },
    spec: { nodeName: 'one', containers, ...spec },
  }
  assert.equal((await call('POST', `${core}/pods`, { body })).status, 201)
  await sleep(200)
  await refused([['GET', `${core}/secrets/of-two`]])
})

test('a node cannot change pods of another node', async () => {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'on-two' } }
  await refused([
    ['DELETE', `${core}/pods/on-two`],
    ['DELETE', `${core}/pods?fieldSelector=spec.nodeName%3Done`],
    ['POST', `${core}/pods/on-two/eviction`, { body: eviction }],
    [
      'POST',
      `${core}/pods/on-two/eviction`,
      { body: { ...eviction, metadata: { name: 'on-one' } } },
    ],
    ['PATCH', `${core}/pods/on-two/status`, { body: { status: { phase: 'Failed' } }, type: merge }],
    [
      'PATCH',
      `${core}/pods/on-one/status`,
      { body: { metadata: { labels: { app: 'db' } } }, type: merge },
    ],
    ['PATCH', `${core}/pods/on-one/ephemeralcontainers`, { body: {}, type: merge }],
    [
      'PATCH',
      `${core}/persistentvolumeclaims/of-two/status`,
      { body: { status: {} }, type: merge },
    ],
    [
      'PATCH',
      `${core}/persistentvolumeclaims/of-one/status`,
      { body: { metadata: { labels: { a: 'b' } } }, type: merge },
    ],
    ['DELETE', `${core}/persistentvolumeclaims/of-one`],
  ])
})

test('a node cannot change its restricted labels or its taints with any kind of write', async () => {
  const own = '/api/v1/nodes/one'
  const key = 'node-restriction.kubernetes.io/pci'
  const labels = { [key]: 'yes' }
  const pointer = `/metadata/labels/${key.replace('/', '~1')}`
  const taints = [{ key: 'k', effect: 'NoSchedule' }]
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one', labels } }
  await refused([
    ['PATCH', own, { body: { metadata: { labels } }, type: merge }],
    ['PATCH', own, { body: { metadata: { labels: { [key]: null } } }, type: merge }],
    ['PATCH', own, { body: { metadata: { labels } }, type: strategic }],
    ['PATCH', own, { body: [{ op: 'replace', path: pointer, value: 'yes' }], type: jsonPatch }],
    ['PATCH', own, { body: [{ op: 'remove', path: pointer }], type: jsonPatch }],
    ['PATCH', `${own}?fieldManager=m&force=true`, { body: node, type: apply }],
    ['PATCH', `${own}/status?fieldManager=m&force=true`, { body: node, type: apply }],
    ['PUT', own, { body: node }],
    ['PUT', `${own}/status`, { body: node }],
    ['PATCH', `${own}/status`, { body: { metadata: { labels } }, type: merge }],
    [
      'PATCH',
      own,
      {
        body: { metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } },
        type: merge,
      },
    ],
    ['PATCH', own, { body: { spec: { taints } }, type: merge }],
    ['PATCH', `${own}/status`, { body: { spec: { taints } }, type: merge }],
    ['DELETE', own],
  ])
  const { body } = await call('GET', own)
  assert.equal(body.metadata.labels[key], 'no')
})

const nodeObject = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
})
const lease = (name: string): RequestOptions => ({
  body: { metadata: { name }, spec: { holderIdentity: name } },
})
const csiNode = (name: string): RequestOptions => ({
  body: { metadata: { name }, spec: { drivers: [] } },
})

test('a node cannot create or change other nodes, or their Leases and CSINodes, with any kind of write', async () => {
  const two = '/api/v1/nodes/two'
  const leases = '/apis/coordination.k8s.io/v1/namespaces'
  await refused([
    ['PATCH', two, { body: { metadata: { labels: { a: 'b' } } }, type: merge }],
    ['PUT', two, { body: nodeObject('two') }],
    ['PATCH', `${two}/status`, { body: { status: { phase: 'x' } }, type: merge }],
    ['POST', '/api/v1/nodes', { body: nodeObject('three') }],
    ['PATCH', '/api/v1/nodes/three?fieldManager=m', { body: nodeObject('three'), type: apply }],
    ['PUT', `${leases}/kube-node-lease/leases/two`, lease('two')],
    ['POST', `${leases}/kube-node-lease/leases`, lease('two')],
    ['PUT', `${leases}/default/leases/one`, lease('one')],
    ['POST', `${leases}/default/leases`, lease('one')],
    ['PUT', '/apis/storage.k8s.io/v1/csinodes/two', csiNode('two')],
    ['POST', '/apis/storage.k8s.io/v1/csinodes', csiNode('two')],
    [
      'PATCH',
      `${core}/secrets/of-one?fieldManager=m`,
      { body: { apiVersion: 'v1', kind: 'Secret' }, type: apply },
    ],
  ])
  // An update of a Node that does not exist must not create it.
  assert.equal(
    (await asOne('PUT', '/api/v1/nodes/three', { body: nodeObject('three') })).status,
    404,
  )
  // The server authorizes the name in the path. It must reject a body with a different name.
  assert.equal((await asOne('PUT', '/api/v1/nodes/one', { body: nodeObject('two') })).status, 400)
  assert.equal((await call('GET', '/api/v1/nodes/three')).status, 404)
})

const token = (account: string, boundObjectRef: object | undefined, more: object = {}) =>
  [
    'POST',
    `${core}/serviceaccounts/${account}/token`,
    {
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { boundObjectRef, ...more },
      },
    },
  ] as const
const bound = (name: string, uid = uids.get(name)): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  name,
  uid,
})

test('a node can create tokens only for its own pods', async () => {
  await refused([
    token('of-two', bound('on-two')),
    token('of-two', bound('on-one')),
    token('of-one', bound('on-two')),
    token('of-one', undefined),
    token('of-one', { apiVersion: 'v1', kind: 'Pod', name: 'on-one' }),
    token('of-one', bound('on-one', 'another')),
    token('of-one', { apiVersion: 'v1', kind: 'Secret', name: 'of-one', uid: uids.get('of-one') }),
    token('of-one', { apiVersion: 'v1', kind: 'Node', name: 'one', uid: uids.get('one') }),
    token('of-one', bound('on-one'), { audiences: ['somebody-else'] }),
    token('of-one', bound('on-one'), { audiences: ['a', 'b'] }),
  ])
})

test('a node cannot act as another user', async () => {
  await refused([['GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles']])
  const nobody = await call('GET', `${core}/secrets/of-one`, { as: one, group: 'system:node' })
  assert.equal(nobody.status, 403)
  for (const name of ['system:node:', 'system:node:One', 'system:node:on', 'system:node:one/two']) {
    assert.equal((await call('GET', `${core}/secrets/of-one`, { as: name })).status, 403, name)
  }
})

test('a server that is ready has loaded the pods of each node', async () => {
  assert.ok(server)
  await using replica = await startReplica(server, flags)
  await using other = clients['HTTP/2']?.(replica.url)
  assert.ok(other)
  const read = async (path: string, headers = {}): Promise<number> =>
    (await other.call({ path, token: adminToken, headers })).status
  await until(async () => (await read('/readyz')) === 200, 'the server is ready')
  const node = { 'impersonate-user': one, 'impersonate-group': 'system:nodes' }
  assert.equal(await read(`${core}/secrets/of-one`, node), 200)
  assert.equal(await read(`${core}/secrets/of-two`, node), 403)
})
