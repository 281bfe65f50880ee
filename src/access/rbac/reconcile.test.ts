import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGates } from '../../api/gates.ts'
import { bootstrapPolicy } from './bootstrap-policy.ts'
import { readPolicy } from './read-policy.ts'
import { reconcile } from './reconcile.ts'

const role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'r', labels: { a: 'b' }, annotations: { c: 'd' } },
  rules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }],
}
const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'b' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' },
  subjects: [{ kind: 'Group', name: 'g' }],
}
const selects = (...values: readonly string[]) => ({
  clusterRoleSelectors: values.map((value) => ({ matchLabels: { x: value } })),
})

test('a default role or binding that contains everything required is not changed, so additions by users are kept', async () => {
  const metadata = { ...role.metadata, uid: 'u', labels: { a: 'b', more: 'm' } }
  const rules = [...role.rules, { verbs: ['*'], apiGroups: ['x'], resources: ['y'] }]
  assert.deepEqual(await reconcile({ ...role, metadata, rules }, role), { operation: 'none' })
  const subjects = [{ kind: 'User', name: 'u' }, ...binding.subjects]
  assert.deepEqual(await reconcile({ ...binding, subjects }, binding), { operation: 'none' })
})

test('missing rules, labels and subjects of default roles and bindings are added', async () => {
  const current = {
    ...role,
    metadata: { name: 'r', uid: 'u', labels: { a: 'other' } },
    rules: [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }],
  }
  assert.deepEqual(await reconcile(current, role), {
    operation: 'update',
    object: {
      ...current,
      metadata: { name: 'r', uid: 'u', labels: { a: 'other' }, annotations: { c: 'd' } },
      rules: [...current.rules, { verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
      aggregationRule: undefined,
    },
  })
  const reconciled = await reconcile(
    { ...binding, subjects: [{ kind: 'User', name: 'u' }] },
    binding,
  )
  assert.ok(reconciled.operation === 'update')
  assert.deepEqual(reconciled.object['subjects'], [
    { kind: 'User', name: 'u' },
    { kind: 'Group', name: 'g' },
  ])
})

test('an object with the annotation autoupdate=false is not changed', async () => {
  const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' }
  assert.deepEqual(
    await reconcile({ ...role, metadata: { name: 'r', annotations }, rules: [] }, role),
    {
      operation: 'none',
    },
  )
  const roleRef = { ...binding.roleRef, name: 'other' }
  assert.deepEqual(
    await reconcile({ ...binding, metadata: { name: 'b', annotations }, roleRef }, binding),
    {
      operation: 'none',
    },
  )
})

test('a default binding that refers to another role is recreated without its previous subjects', async () => {
  const current = {
    ...binding,
    roleRef: { ...binding.roleRef, name: 'other' },
    subjects: [{ kind: 'User', name: 'u' }],
  }
  assert.deepEqual(await reconcile(current, binding), { operation: 'recreate', object: binding })
})

test('missing aggregation selectors are added to a default role, and are removed if the role has none by default', async () => {
  const wanted = { ...role, aggregationRule: selects('1', '2'), rules: null }
  const reconciled = await reconcile({ ...role, aggregationRule: selects('2', '3') }, wanted)
  assert.ok(reconciled.operation === 'update')
  assert.deepEqual(reconciled.object['aggregationRule'], selects('2', '3', '1'))
  assert.deepEqual(
    reconciled.object['rules'],
    role.rules,
    'the rules that the aggregation controller wrote',
  )
  const plain = await reconcile({ ...role, aggregationRule: selects('2') }, role)
  assert.ok(plain.operation === 'update')
  assert.equal(plain.object['aggregationRule'], undefined)
})

test('the whole bootstrap policy is parsed, and reconciling its objects with themselves changes nothing', async () => {
  const policy = readPolicy(bootstrapPolicy, defaultGates)
  const count = (resource: string): number =>
    policy.filter((one) => one.resource === resource).length
  assert.deepEqual(
    ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'].map(count),
    [66, 47, 7, 7],
  )
  for (const { object } of policy)
    assert.deepEqual(await reconcile(object, object), { operation: 'none' })
  const find = (kind: string, name: string) =>
    policy.find(({ object }) => object.kind === kind && object.metadata.name === name)?.object
  assert.deepEqual(find('ClusterRole', 'cluster-admin')?.['rules'], [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ])
  assert.deepEqual(find('ClusterRole', 'view')?.metadata.labels, {
    'kubernetes.io/bootstrapping': 'rbac-defaults',
    'rbac.authorization.k8s.io/aggregate-to-edit': 'true',
  })
  assert.deepEqual(find('ClusterRoleBinding', 'system:kube-dns')?.['subjects'], [
    { kind: 'ServiceAccount', name: 'kube-dns', namespace: 'kube-system' },
  ])
  assert.ok(!('subjects' in (find('ClusterRoleBinding', 'system:node') ?? {})))
})
