import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, noMemory } from '../../api/errors.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import { authorizeByRoles } from './authorizer.ts'
import { confirmGrant, type Grant } from './confirm-grant.ts'
import { readRules } from './read-objects.ts'
import { RoleIndex } from './role-index.ts'

const group = 'rbac.authorization.k8s.io'
const apiVersion = `${group}/v1`
const may = (verbs: string, resources: string, more: Fields = {}): Fields => ({
  verbs: verbs.split(','),
  resources: resources.split(','),
  apiGroups: [''],
  ...more,
})
const mallory: User = { name: 'mallory', uid: '', groups: ['system:authenticated'] }
const everything = [may('*', '*', { apiGroups: ['*'] }), { verbs: ['*'], nonResourceURLs: ['*'] }]

/**
 * Creates an index in which the user mallory has these permissions in the namespace n or, if
 * `namespace` is empty, in the whole cluster.
 */
function world(held: readonly Fields[], namespace = 'n'): RoleIndex {
  const index = new RoleIndex()
  const name = 'own'
  index.setRole({ namespace, name }, readRules(held))
  const subject = { kind: 'User', name: 'mallory', namespace: '', matches: 'mallory' } as const
  const roleKind = namespace === '' ? 'ClusterRole' : 'Role'
  index.setBinding({ namespace, name }, { roleKind, roleName: name, subjects: [subject] })
  index.setRole({ namespace: '', name: 'cluster-admin' }, readRules(everything))
  index.setRole({ namespace: 'n', name: 'pods' }, readRules([may('get', 'pods')]))
  return index
}

const roleOf = (rules: readonly Fields[], more: Fields = {}): KubeObject => ({
  apiVersion,
  kind: 'Role',
  metadata: { name: 'r' },
  rules,
  ...more,
})
const bindingOf = (role: string): KubeObject => {
  const [kind = '', name = ''] = role.split('/')
  const subjects = [{ kind: 'User', name: 'mallory' }]
  return {
    apiVersion,
    kind: 'X',
    metadata: { name: 'b' },
    roleRef: { apiGroup: group, kind, name },
    subjects,
  }
}

/** Returns the error message, or undefined if the write is allowed. */
async function refusalOf(
  index: RoleIndex,
  grant: Partial<Grant> & Pick<Grant, 'resource' | 'object'>,
) {
  const parts = {
    index,
    latest: async () => undefined,
    authorize: (user: User, attributes: Parameters<typeof authorizeByRoles>[2]) =>
      authorizeByRoles(index, user, attributes),
  }
  const namespace = grant.resource.startsWith('cluster') ? '' : 'n'
  const { signal } = new AbortController()
  try {
    await confirmGrant(parts, {
      user: mallory,
      namespace,
      name: '',
      current: undefined,
      signal,
      inParts: undefined,
      reserve: () => undefined,
      ...grant,
    })
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.message
  }
}

const writes = may(
  'create,update,patch,delete',
  'roles,rolebindings,clusterroles,clusterrolebindings',
  {
    apiGroups: [group],
  },
)
const notHeld = /is attempting to grant RBAC permissions not currently held/

test('a user can write a role only with permissions that the user holds', async () => {
  const index = world([writes, may('get', 'services')])
  const resource = 'roles'
  assert.equal(
    await refusalOf(index, { resource, object: roleOf([may('get', 'services')]) }),
    undefined,
  )
  assert.equal(
    await refusalOf(index, {
      resource,
      object: roleOf([may('get,list', 'services'), may('get', 'pods')]),
    }),
    'roles.rbac.authorization.k8s.io "r" is forbidden: user "mallory" (groups=["system:authenticated"]) is attempting to grant RBAC ' +
      'permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["get"]}\n{APIGroups:[""], Resources:["services"], Verbs:["list"]}',
  )
})

test('attack: a role cannot grant permissions that its author lacks', async () => {
  const index = world([
    writes,
    may('get', 'services'),
    may('get', 'secrets', { resourceNames: ['mine'] }),
  ])
  const attacks: readonly (readonly [string, Grant['resource'], KubeObject])[] = [
    ['everything', 'roles', roleOf(everything)],
    ['all verbs', 'roles', roleOf([may('*', 'services')])],
    ['all resources', 'roles', roleOf([may('get', '*')])],
    ['all groups', 'roles', roleOf([may('get', 'services', { apiGroups: ['*'] })])],
    ['a subresource', 'roles', roleOf([may('get', 'services/proxy')])],
    ['a subresource of any resource', 'roles', roleOf([may('get', '*/status')])],
    ['all names', 'roles', roleOf([may('get', 'secrets')])],
    [
      'another name',
      'roles',
      roleOf([may('get', 'secrets', { resourceNames: ['mine', 'yours'] })]),
    ],
    ['the verb escalate', 'roles', roleOf([may('escalate', 'roles', { apiGroups: [group] })])],
    ['the verb bind', 'roles', roleOf([may('bind', 'clusterroles', { apiGroups: [group] })])],
    ['the verb impersonate', 'roles', roleOf([may('impersonate', 'users,groups')])],
    [
      'cluster-wide permissions that are held in a namespace',
      'clusterroles',
      roleOf([may('get', 'services')]),
    ],
    ['paths', 'clusterroles', roleOf([{ verbs: ['get'], nonResourceURLs: ['/metrics'] }])],
  ]
  for (const [name, resource, object] of attacks) {
    assert.match((await refusalOf(index, { resource, object })) ?? '', notHeld, name)
  }
})

test('attack: a binding cannot grant a role whose permissions its author lacks', async () => {
  const index = world([writes])
  for (const [resource, role] of [
    ['rolebindings', 'ClusterRole/cluster-admin'],
    ['clusterrolebindings', 'ClusterRole/cluster-admin'],
    ['rolebindings', 'Role/pods'],
  ] as const) {
    assert.match(
      (await refusalOf(index, { resource, object: bindingOf(role) })) ?? '',
      notHeld,
      role,
    )
  }
  assert.equal(
    await refusalOf(index, { resource: 'rolebindings', object: bindingOf('Role/none') }),
    'rolebindings.rbac.authorization.k8s.io "none" not found',
    'a role that is created later would already be bound',
  )
  assert.equal(
    await refusalOf(index, { resource: 'rolebindings', object: bindingOf('Group/x') }),
    'unsupported role reference kind: "Group"',
  )
})

test('writing a role that has, or had, an aggregation rule requires all permissions', async () => {
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] }
  const refused = /must have cluster-admin privileges to use the aggregationRule/
  const index = world([writes], '')
  const resource = 'clusterroles'
  const aggregated = roleOf([], { aggregationRule })
  assert.match((await refusalOf(index, { resource, object: aggregated })) ?? '', refused)
  assert.match(
    (await refusalOf(index, { resource, object: roleOf([]), current: aggregated })) ?? '',
    refused,
  )
  const labelled = { ...aggregated, metadata: { name: 'r', labels: { a: 'b' } } }
  assert.match(
    (await refusalOf(index, { resource, object: labelled, current: aggregated })) ?? '',
    refused,
  )
  // The author has all verbs on all resources, including escalate, so this write is allowed.
  assert.equal(await refusalOf(world(everything, ''), { resource, object: aggregated }), undefined)
})

test('a role labeled for aggregation cannot grant permissions that its author lacks', async () => {
  const index = world([writes], '')
  const labels = { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' }
  const object = { ...roleOf(everything), metadata: { name: 'r', labels } }
  assert.match((await refusalOf(index, { resource: 'clusterroles', object })) ?? '', notHeld)
  const current = roleOf(everything)
  assert.match(
    (await refusalOf(index, { resource: 'clusterroles', object, current })) ?? '',
    notHeld,
    'labeling an existing role is also checked',
  )
})

test('the escalation check covers every update, except updates that change only owner references or finalizers', async () => {
  const index = world([writes])
  const current = roleOf([may('get', 'pods')])
  const resource = 'roles'
  const change = (metadata: KubeObject['metadata']) =>
    ({ resource, object: { ...current, metadata }, current }) as const
  assert.equal(await refusalOf(index, change({ name: 'r' })), undefined)
  assert.equal(
    await refusalOf(index, change({ name: 'r', finalizers: ['x/y'], ownerReferences: [{}] })),
    undefined,
  )
  assert.match(
    (await refusalOf(index, change({ name: 'r', annotations: { a: 'b' } }))) ?? '',
    notHeld,
  )
  assert.equal(
    await refusalOf(index, { resource, object: roleOf([]), current }),
    undefined,
    'removing permissions is allowed',
  )
})

test('the verb escalate must be allowed for the role in the path, and the verb bind for the role of the binding', async () => {
  const escalate = may('escalate', 'roles', { apiGroups: [group], resourceNames: ['r'] })
  const bind = may('bind', 'roles', { apiGroups: [group], resourceNames: ['pods'] })
  const object = roleOf([may('get', 'pods')])
  const first = world([writes, escalate])
  const current = roleOf([])
  assert.equal(await refusalOf(first, { resource: 'roles', object, current, name: 'r' }), undefined)
  assert.match(
    (await refusalOf(first, { resource: 'roles', object })) ?? '',
    notHeld,
    'the path of a create has no name',
  )
  assert.match(
    (await refusalOf(first, { resource: 'roles', object, current, name: 'other' })) ?? '',
    notHeld,
  )
  assert.match(
    (await refusalOf(first, { resource: 'rolebindings', object: bindingOf('Role/pods') })) ?? '',
    notHeld,
  )
  const second = world([writes, bind])
  assert.equal(
    await refusalOf(second, { resource: 'rolebindings', object: bindingOf('Role/pods') }),
    undefined,
  )
  const all = bindingOf('ClusterRole/cluster-admin')
  assert.match((await refusalOf(second, { resource: 'rolebindings', object: all })) ?? '', notHeld)
  assert.match(
    (await refusalOf(second, { resource: 'roles', object, current, name: 'r' })) ?? '',
    notHeld,
  )
})

test('the escalation check is skipped for members of system:masters', async () => {
  const user = { name: 'root', uid: '', groups: ['system:masters'] }
  const index = world([])
  assert.equal(
    await refusalOf(index, { user, resource: 'roles', object: roleOf(everything) }),
    undefined,
  )
  assert.equal(
    await refusalOf(index, { user, resource: 'rolebindings', object: bindingOf('Role/none') }),
    undefined,
  )
})

/** Rules with 990 resources each. The rules differ only in the last resource. */
const largeRules = (count: number, first: number): Fields[] => {
  const resources = Array.from({ length: 990 }, (_, at) => `x${at}`)
  return Array.from({ length: count }, (_, at) =>
    may('get', [...resources, `own${at + first}`].join()),
  )
}

test('the escalation check of large roles stops at a limit, and the error names the limit', async () => {
  const index = world([writes, ...largeRules(3_000, 0)])
  const before = process.threadCpuUsage()
  const object = roleOf(largeRules(3_000, 1))
  assert.match(
    (await refusalOf(index, { resource: 'roles', object })) ?? '',
    /"r" is forbidden: the permissions cannot be checked, because the check compares at most 50000000 entries of rules: split/,
  )
  const { user } = process.threadCpuUsage(before)
  assert.ok(user < 20_000_000, `${user} µs`)
})

test('the escalation check of large roles ends when the request ends', async () => {
  const index = world([writes, ...largeRules(3_000, 0)])
  const ending = new AbortController()
  const reason = new Error('the client has disconnected')
  const { signal } = ending
  const object = roleOf(largeRules(3_000, 1))
  setImmediate(() => ending.abort(reason))
  await assert.rejects(refusalOf(index, { resource: 'roles', object, signal }), reason)
})

test('the escalation check reserves memory only for list entries that it compares', async () => {
  const names = Array.from({ length: 100_000 }, (_, at) => `name${at}`)
  const index = world([writes, may('get', 'secrets', { resourceNames: names })])
  let reserved = 0
  const reserve = (bytes: number): void => void (reserved += bytes)
  const one = roleOf([may('get', 'secrets', { resourceNames: ['name99999'] })])
  assert.equal(await refusalOf(index, { resource: 'roles', object: one, reserve }), undefined)
  assert.equal(reserved, 0)
  const all = roleOf([may('get', 'secrets', { resourceNames: names })])
  assert.equal(await refusalOf(index, { resource: 'roles', object: all, reserve }), undefined)
  assert.ok(reserved > 100_000 * 64 && reserved < 100_000 * 500, `${reserved} bytes`)
  assert.equal(
    await refusalOf(index, { resource: 'roles', object: all, reserve: refuse }),
    noMemory().message,
  )
})

function refuse(): never {
  throw noMemory()
}
