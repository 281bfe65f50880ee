import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGates } from '../../api/gates.ts'
import { itemsOf, type KubeObject, textOf, textsOf } from '../../api/object.ts'
import { bootstrapPolicy } from './bootstrap-policy.ts'
import { readPolicy } from './read-policy.ts'

const text = `
ClusterRole a
  get | - | pods
  get | - | nodes ? One
  list | /x,/y ? !One
ClusterRole b ? One,!Two
  get | apps | deployments | d
Role n/c ? Two
  label k=v
  selects k=w
ClusterRoleBinding a = ClusterRole/a: Group/g ServiceAccount/n/s
ClusterRoleBinding b = ClusterRole/b: ? One
RoleBinding n/c = Role/c: User/u
`

const read = (...gates: readonly string[]): KubeObject[] =>
  readPolicy(text, { release: 33, isOn: (gate) => gates.includes(gate) }).map(
    ({ resource, object }) => ({
      ...object,
      resource,
    }),
  )

test('objects and rules that depend on a feature gate are in the bootstrap policy only if the gate is enabled', () => {
  const names = (...gates: readonly string[]): string[] =>
    read(...gates).map(({ resource, metadata: { namespace, name } }) =>
      [textOf(resource), namespace, name].join(' '),
    )
  const bindings = ['clusterrolebindings  a', 'rolebindings n c']
  assert.deepEqual(names(), ['clusterroles  a', ...bindings])
  assert.deepEqual(names('One'), [
    'clusterroles  a',
    'clusterroles  b',
    bindings[0],
    'clusterrolebindings  b',
    bindings[1],
  ])
  assert.deepEqual(names('Two'), ['clusterroles  a', 'roles n c', ...bindings])
  assert.deepEqual(read()[0]?.['rules'], [
    { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
    { verbs: ['list'], nonResourceURLs: ['/x', '/y'] },
  ])
  assert.equal(read('One')[1]?.metadata.name, 'b')
  assert.deepEqual(read('One')[1]?.['rules'], [
    { verbs: ['get'], apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['d'] },
  ])
})

test('the labels, selectors and subjects in the text of the bootstrap policy are parsed', () => {
  const role = read('Two')[1]
  assert.deepEqual(role?.metadata, {
    name: 'c',
    namespace: 'n',
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', k: 'v' },
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
  })
  assert.deepEqual(role['aggregationRule'], { clusterRoleSelectors: [{ matchLabels: { k: 'w' } }] })
  assert.equal(role['rules'], null)
  const [, binding] = read()
  assert.deepEqual(binding?.['subjects'], [
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'g' },
    { kind: 'ServiceAccount', name: 's', namespace: 'n' },
  ])
})

/**
 * CVE-2021-25740: a user who is allowed to edit a namespace must not be able to forward the traffic
 * of a Service to another namespace.
 */
test('the aggregated roles edit and admin do not grant write access to endpoints', () => {
  const policy = readPolicy(bootstrapPolicy, defaultGates)
  for (const name of ['system:aggregate-to-edit', 'system:aggregate-to-admin']) {
    const role = policy.find(({ object }) => object.metadata.name === name)
    const rules = itemsOf(role?.object['rules'])
    assert.ok(rules.length > 0)
    for (const { verbs, resources } of rules) {
      const writes = textsOf(verbs).some((verb) => !['get', 'list', 'watch'].includes(verb))
      const ofEndpoints = textsOf(resources).filter(
        (one) => one === '*' || one.startsWith('endpoints'),
      )
      assert.deepEqual(writes ? ofEndpoints : [], [], name)
    }
  }
})

test('a line in the text of the bootstrap policy can apply to only some Kubernetes releases', () => {
  const ranges = `
ClusterRole a
  get | - | first ? -34
  get | - | middle ? 34-35
  get | - | last ? 35-
ClusterRole b ? 36-
`
  const shown = [33, 34, 35, 36].map((release) =>
    readPolicy(ranges, { release, isOn: () => false }).map(({ object }) =>
      [
        textOf(object.metadata.name),
        ...itemsOf(object['rules']).flatMap(({ resources }) => textsOf(resources)),
      ].join(' '),
    ),
  )
  assert.deepEqual(shown, [['a first'], ['a first middle'], ['a middle last'], ['a last', 'b']])
})
