/**
 * Tests roles on whole servers. A change of a role applies to the next request of the client that
 * has made it, even after a restart or on another replica. Attacks fail.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../support/harness/until.ts'
import {
  adminToken,
  type Client,
  clients,
  startReplica,
  startTestServer,
  type TestServer,
} from './support.ts'

const flags = ['--authorization-mode=Node,RBAC']
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const group = 'rbac.authorization.k8s.io'
const parts = new AsyncDisposableStack()
const servers: TestServer[] = []
const all: Client[] = []

before(async () => {
  const first = await startTestServer(flags)
  servers.push(first, await startReplica(first, flags))
  for (const server of servers) {
    const client = clients['HTTP/2']?.(server.url)
    assert.ok(client)
    all.push(client)
    parts.defer(() => client[Symbol.asyncDispose]())
  }
})

after(async () => {
  await parts.disposeAsync()
  for (const server of servers.toReversed()) await server[Symbol.asyncDispose]()
  for (const { complaints } of servers) assert.deepEqual(complaints, [])
})

type RequestOptions = {
  readonly method?: string
  readonly body?: unknown
  readonly type?: string
  readonly as?: string
}

/** Sends a request as admin, unless another user is named. */
async function call(path: string, { method = 'GET', body, type, as }: RequestOptions = {}, at = 0) {
  const client = all[at]
  assert.ok(client)
  const headers = {
    ...(type === undefined ? {} : { 'content-type': type }),
    ...(as === undefined ? {} : { 'impersonate-user': as }),
  }
  const sent = { method, path, token: adminToken, headers, ...(body === undefined ? {} : { body }) }
  const { status, text } = await client.call(sent)
  // The body is plain text if the server has no handler for the path.
  return { status, body: text.startsWith('{') ? JSON.parse(text) : { message: text } }
}

const post = (path: string, body: unknown, as?: string) =>
  call(path, { method: 'POST', body, ...(as === undefined ? {} : { as }) })

const may = (verbs: string, resources: string, more: object = {}): object => ({
  verbs: verbs.split(','),
  resources: resources.split(','),
  apiGroups: [''],
  ...more,
})
const role = (name: string, ...rules: readonly object[]): object => ({ metadata: { name }, rules })
const binding = (name: string, to: string, user: string): object => {
  const [kind = '', roleName = ''] = to.split('/')
  return {
    metadata: { name },
    roleRef: { apiGroup: group, kind, name: roleName },
    subjects: [{ apiGroup: group, kind: 'User', name: user }],
  }
}

async function namespace(name: string): Promise<string> {
  assert.equal((await post('/api/v1/namespaces', { metadata: { name } })).status, 201)
  return `${rbac}/namespaces/${name}`
}

test('a new or deleted binding applies to the next request, in 200 repetitions', async () => {
  const path = await namespace('quick')
  await post(`${path}/roles`, role('r', may('get', 'configmaps')))
  const target = '/api/v1/namespaces/quick/configmaps/none'
  for (let round = 0; round < 200; round++) {
    assert.equal((await post(`${path}/rolebindings`, binding('b', 'Role/r', 'alice'))).status, 201)
    assert.equal((await call(target, { as: 'alice' })).status, 404, `granted in round ${round}`)
    assert.equal((await call(`${path}/rolebindings/b`, { method: 'DELETE' })).status, 200)
    assert.equal((await call(target, { as: 'alice' })).status, 403, `taken back in round ${round}`)
  }
})

test('a change of a role by a patch, update, apply or deletecollection affects the next request', async () => {
  const path = await namespace('changes')
  const target = '/api/v1/namespaces/changes/secrets/none'
  await post(`${path}/roles`, role('r'))
  await post(`${path}/rolebindings`, binding('b', 'Role/r', 'alice'))
  const merge = 'application/merge-patch+json'
  const apply = 'application/apply-patch+yaml'
  for (let round = 0; round < 50; round++) {
    await call(`${path}/roles/r`, {
      method: 'PATCH',
      type: merge,
      body: role('r', may('get', 'secrets')),
    })
    assert.equal((await call(target, { as: 'alice' })).status, 404)
    await call(`${path}/roles/r`, { method: 'PUT', body: role('r') })
    assert.equal((await call(target, { as: 'alice' })).status, 403)
    const body = { apiVersion: `${group}/v1`, kind: 'Role', ...role('r', may('*', 'secrets')) }
    await call(`${path}/roles/r?fieldManager=m&force=true`, { method: 'PATCH', type: apply, body })
    assert.equal((await call(target, { as: 'alice' })).status, 404)
    await call(`${path}/roles`, { method: 'DELETE' })
    const { status, body: refused } = await call(target, { as: 'alice' })
    assert.equal(status, 403)
    assert.match(refused.message, /RBAC: role.rbac.authorization.k8s.io "r" not found$/)
    await post(`${path}/roles`, role('r'))
  }
})

test('a write through one server soon applies on the other server', async () => {
  const path = await namespace('replicas')
  await post(`${path}/roles`, role('r', may('get', 'configmaps')))
  await post(`${path}/rolebindings`, binding('b', 'Role/r', 'alice'))
  const target = '/api/v1/namespaces/replicas/configmaps/none'
  await until(
    async () => (await call(target, { as: 'alice' }, 1)).status === 404,
    'the other server knows the binding',
  )
})

test('a permission that was revoked through one server cannot be granted through the other server', async () => {
  const path = await namespace('late')
  const writes = may('create', 'roles', { apiGroups: [group] })
  for (let round = 0; round < 50; round++) {
    const bound = `b${round}`
    await post(`${path}/roles`, role(`w${round}`, writes, may('get', 'secrets')))
    await post(`${path}/rolebindings`, binding(bound, `Role/w${round}`, 'mallory'))
    await post(`${path}/rolebindings`, binding(`k${round}`, 'Role/keep', 'mallory'))
    if (round === 0) await post(`${path}/roles`, role('keep', writes))
    await call(`${path}/rolebindings/${bound}`, { method: 'DELETE' })
    const sent = { method: 'POST', body: role(`g${round}`, may('get', 'secrets')), as: 'mallory' }
    assert.equal((await call(`${path}/roles`, sent, 1)).status, 403)
  }
})

test('a new cluster has the default roles, and a server repairs them when it starts', async () => {
  const protectedRole = `${rbac}/clusterroles/system:monitoring`
  const mended = `${rbac}/clusterroles/system:discovery`
  const rebound = `${rbac}/clusterrolebindings/system:basic-user`
  const merge = 'application/merge-patch+json'
  const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' }
  await call(protectedRole, {
    method: 'PATCH',
    type: merge,
    body: { metadata: { annotations }, rules: [] },
  })
  await call(mended, { method: 'PATCH', type: merge, body: { rules: [may('get', 'pods')] } })
  await call(rebound, { method: 'DELETE' })
  await post(
    `${rbac}/clusterrolebindings`,
    binding('system:basic-user', 'ClusterRole/cluster-admin', 'mallory'),
  )
  assert.equal((await call('/apis', { as: 'alice' })).status, 403)
  const [first] = servers
  assert.ok(first)
  await using third = await startReplica(first, flags)
  assert.deepEqual(third.complaints, [])
  assert.deepEqual((await call(protectedRole)).body.rules ?? [], [])
  const { rules } = (await call(mended)).body
  assert.deepEqual(rules[0], may('get', 'pods'))
  assert.ok(rules.length > 5)
  assert.equal((await call('/apis', { as: 'alice' })).status, 200)
  const { roleRef, subjects } = (await call(rebound)).body
  assert.equal(roleRef.name, 'system:basic-user')
  assert.deepEqual(
    subjects.map(({ name }: { name: string }) => name),
    ['system:authenticated'],
  )
  assert.equal((await call('/api/v1/nodes', { as: 'mallory' })).status, 403)
})

test("attacks: no kind of write increases the user's permissions", async () => {
  const path = await namespace('attacks')
  const writes = may('*', 'roles,rolebindings', {
    apiGroups: [group],
    verbs: ['create', 'update', 'patch', 'get'],
  })
  await post(`${path}/roles`, role('own', writes))
  await post(`${path}/rolebindings`, binding('own', 'Role/own', 'mallory'))
  const more = role('own', writes, may('*', '*'))
  const fresh = role('fresh', may('get', 'secrets'))
  const full = { apiVersion: `${group}/v1`, kind: 'Role' }
  const admin = binding('b', 'ClusterRole/cluster-admin', 'mallory')
  const merge = 'application/merge-patch+json'
  const attacks: readonly (readonly [string, string, RequestOptions])[] = [
    ['create', `${path}/roles`, { method: 'POST', body: fresh }],
    ['dry run', `${path}/roles?dryRun=All`, { method: 'POST', body: fresh }],
    ['update', `${path}/roles/own`, { method: 'PUT', body: more }],
    ['update that creates', `${path}/roles/fresh`, { method: 'PUT', body: fresh }],
    ['merge patch', `${path}/roles/own`, { method: 'PATCH', type: merge, body: more }],
    [
      'JSON patch',
      `${path}/roles/own`,
      {
        method: 'PATCH',
        type: 'application/json-patch+json',
        body: [{ op: 'add', path: '/rules/-', value: may('*', '*') }],
      },
    ],
    [
      'strategic patch',
      `${path}/roles/own`,
      { method: 'PATCH', type: 'application/strategic-merge-patch+json', body: more },
    ],
    [
      'apply that creates',
      `${path}/roles/fresh?fieldManager=m`,
      { method: 'PATCH', type: 'application/apply-patch+yaml', body: { ...full, ...fresh } },
    ],
    [
      'apply',
      `${path}/roles/own?fieldManager=m&force=true`,
      { method: 'PATCH', type: 'application/apply-patch+yaml', body: { ...full, ...more } },
    ],
    ['bind', `${path}/rolebindings`, { method: 'POST', body: admin }],
    ['bind by an update that creates', `${path}/rolebindings/b`, { method: 'PUT', body: admin }],
    ['bind in the cluster', `${rbac}/clusterrolebindings`, { method: 'POST', body: admin }],
    ['a cluster role', `${rbac}/clusterroles`, { method: 'POST', body: fresh }],
    [
      'a label that admin aggregates',
      `${rbac}/clusterroles/system:aggregate-to-view`,
      {
        method: 'PATCH',
        type: merge,
        body: { metadata: { labels: { [`${group}/aggregate-to-edit`]: 'true' } } },
      },
    ],
  ]
  for (const [name, target, sent] of attacks) {
    const { status, body } = await call(target, { ...sent, as: 'mallory' })
    assert.equal(status, 403, `${name}: ${JSON.stringify(body)}`)
  }
  assert.equal((await call('/api/v1/namespaces/attacks/secrets', { as: 'mallory' })).status, 403)
})

test('attacks: impersonation and subresources require separate permissions', async () => {
  const path = await namespace('others')
  await post(
    `${path}/roles`,
    role('own', may('get,list', 'pods'), may('impersonate', 'serviceaccounts')),
  )
  await post(`${path}/rolebindings`, binding('own', 'Role/own', 'bob'))
  const client = all[0]
  assert.ok(client)
  const bob = async (
    target: string,
    headers: { readonly [name: string]: string } = {},
  ): Promise<number> => (await client.call({ path: target, token: 'bob-token', headers })).status
  const pods = '/api/v1/namespaces/others/pods'
  assert.equal(await bob(pods), 200)
  for (const part of [
    'log',
    'exec',
    'attach',
    'portforward',
    'proxy',
    'status',
    'ephemeralcontainers',
  ]) {
    assert.equal(await bob(`${pods}/p/${part}`), 403, part)
  }
  const account = 'system:serviceaccount:others:sa'
  assert.equal(await bob('/apis', { 'impersonate-user': account }), 200)
  for (const headers of [
    { 'impersonate-user': 'admin' },
    { 'impersonate-user': 'system:serviceaccount:kube-system:sa' },
    { 'impersonate-user': account, 'impersonate-group': 'system:masters' },
    { 'impersonate-user': account, 'impersonate-uid': 'u' },
    { 'impersonate-user': account, 'impersonate-extra-scopes': 's' },
    { 'impersonate-user': 'system:serviceaccount:others:sa:x' },
  ]) {
    assert.equal(await bob('/apis', headers), 403, JSON.stringify(headers))
  }
  assert.equal(await bob('/api/v1/namespaces/others/../kube-system/pods'), 403)
  assert.equal(await bob('/api/v1/pods'), 403)
})

/**
 * CVE-2019-11247 and CVE-2022-3162: a path that begins with the namespace does not give access
 * outside of the namespace.
 */
test('attacks: a user with all permissions in one namespace has no permissions outside of it', async () => {
  const path = await namespace('walled')
  await post(`${path}/roles`, role('all', may('*', '*', { apiGroups: ['*'] })))
  await post(`${path}/rolebindings`, binding('all', 'Role/all', 'mallory'))
  const versions = [
    { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
  ]
  const names = { plural: 'walls', singular: 'wall', kind: 'Wall', listKind: 'WallList' }
  await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'walls.example.com' },
    spec: { group: 'example.com', scope: 'Cluster', names, versions },
  })
  const wall = { apiVersion: 'example.com/v1', kind: 'Wall', metadata: { name: 'w' } }
  await until(
    async () => (await post('/apis/example.com/v1/walls', wall)).status === 201,
    'walls are served',
  )
  const inside = '/api/v1/namespaces/walled'
  assert.equal((await call(`${inside}/secrets`, { as: 'mallory' })).status, 200)
  for (const target of [
    `${inside}/nodes`,
    `${inside}/persistentvolumes`,
    `${path}/clusterroles`,
    `${path}/clusterroles/cluster-admin`,
    '/apis/example.com/v1/namespaces/walled/walls',
    '/apis/example.com/v1/namespaces/walled/walls/w',
  ]) {
    assert.equal((await call(target, { as: 'mallory' })).status, 404, target)
    assert.equal((await call(target, { as: 'mallory', method: 'DELETE' })).status, 404, target)
  }
  const admin = binding('walled', 'ClusterRole/cluster-admin', 'mallory')
  const bound = await call(`${path}/clusterrolebindings`, {
    method: 'POST',
    body: admin,
    as: 'mallory',
  })
  assert.equal(bound.status, 404)
  await post('/api/v1/namespaces/kube-system/secrets', {
    metadata: { name: 'hidden' },
    stringData: { a: 'found' },
  })
  for (const name of [
    '..%2f..%2fkube-system%2fhidden',
    '..%2f..%2fsecrets%2fkube-system%2fhidden',
    '%2e%2e',
    '..',
  ]) {
    const { status, body } = await call(`${inside}/secrets/${name}`, { as: 'mallory' })
    assert.ok(status >= 400, `${name}: ${status}`)
    assert.ok(!JSON.stringify(body).includes('found'))
  }
  assert.equal(
    (await call('/api/v1/namespaces/kube-system/secrets/hidden', { as: 'mallory' })).status,
    403,
  )
  assert.equal((await call('/apis/example.com/v1/walls/w')).status, 200)
})

test('the aggregation controller keeps aggregated roles up to date', async () => {
  const view = `${rbac}/clusterroles/view`
  assert.deepEqual((await call(view)).body.rules, null)
  const [first] = servers
  assert.ok(first)
  await using aggregating = await startReplica(first, [
    ...flags,
    '--controllers=clusterrole-aggregation-controller',
  ])
  const resources = async (name: string): Promise<string[]> => {
    const { rules } = (await call(`${rbac}/clusterroles/${name}`)).body
    return (rules ?? []).flatMap((rule: { resources: string[] }) => rule.resources)
  }
  const widgets = role('widgets', may('get', 'widgets', { apiGroups: ['example.com'] }))
  const labels = { [`${group}/aggregate-to-view`]: 'true' }
  await post(`${rbac}/clusterroles`, { ...widgets, metadata: { name: 'widgets', labels } })
  // The controller adds the rule to the ClusterRole view, then to edit, and finally to admin.
  await until(async () => (await resources('admin')).includes('widgets'), 'the role has changed')
  assert.ok((await resources('view')).includes('configmaps'))
  const { metadata } = (await call(view)).body
  const managers = metadata.managedFields.map(({ manager }: { manager: string }) => manager)
  assert.ok(managers.includes('clusterrole-aggregation-controller'), managers.join())
  await call(`${rbac}/clusterroles/widgets`, { method: 'DELETE' })
  await until(async () => !(await resources('admin')).includes('widgets'), 'the role has changed')
  assert.deepEqual(aggregating.complaints, [])
})
