import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccessAttributes } from '../../../api/access.ts'
import { parseFieldSelector } from '../../../api/field-selector.ts'
import { defaultGates, type Gates } from '../../../api/gates.ts'
import { bootstrapRules } from '../../rbac/bootstrap-rules.ts'
import { authorizeNode } from './authorize-node.ts'
import { NodeGraph, referenceTo } from './graph.ts'

const graph = new NodeGraph()
const references = [
  referenceTo('secrets', 'a', 's'),
  referenceTo('configmaps', 'a', 'm'),
  referenceTo('serviceaccounts', 'a', 'sa'),
  referenceTo('resourceclaims', 'a', 'r'),
  referenceTo('persistentvolumeclaims', 'a', 'c'),
]
graph.setPod('a/p', { node: 'n', references })
graph.setPod('a/q', { node: 'm', references: [referenceTo('secrets', 'a', 'of-m')] })
graph.setVolume('v', { claim: referenceTo('persistentvolumeclaims', 'a', 'c'), secrets: [] })
graph.setAttachment('at', 'n')
graph.setSlice('sl', 'n')

const withOff = (...names: readonly string[]): Gates => ({
  release: 33,
  isOn: (name) => !names.includes(name) && defaultGates.isOn(name),
})
const withOn = (...names: readonly string[]): Gates => ({
  release: 33,
  isOn: (name) => names.includes(name) || defaultGates.isOn(name),
})

/**
 * Returns 'allow', or the reason why a request is not allowed. The request has the form `verb
 * resource[.group][/subresource] [namespace/]name ?fieldSelector`.
 */
function ask(
  question: string,
  { user = 'system:node:n', groups = ['system:nodes'], gates = defaultGates } = {},
): string {
  const [verb = '', what = '', ...rest] = question.split(' ')
  const place = rest.find((part) => !part.startsWith('?')) ?? ''
  const selector = rest.find((part) => part.startsWith('?'))?.slice(1)
  const [resource = '', subresource = ''] = what.split('/')
  const [plural = '', ...group] = resource.split('.')
  const slash = place.indexOf('/')
  const attributes: AccessAttributes = {
    kind: 'resource',
    verb,
    group: group.join('.'),
    version: 'v1',
    plural,
    subresource,
    namespace: slash === -1 ? '' : place.slice(0, slash),
    name: place.slice(slash + 1),
    selectors:
      selector === undefined
        ? undefined
        : () => ({ fields: parseFieldSelector(selector), labels: [] }),
  }
  const parts = { graph, rules: () => bootstrapRules('system:node', gates), gates }
  const { verdict, reason } = authorizeNode(parts, { name: user, uid: '', groups }, attributes)
  return verdict === 'allow' ? 'allow' : reason
}

const unrelated = "no relationship found between node 'n' and this object"
const cases: readonly (readonly [string, string])[] = [
  ['get secrets a/s', 'allow'],
  ['watch secrets a/s', 'allow'],
  ['get secrets a/of-m', unrelated],
  ['get secrets b/s', unrelated],
  ['list secrets a/', 'No Object name found'],
  ['list secrets s', 'can only read namespaced object of this type'],
  ['update secrets a/s', 'can only read resources of this type'],
  ['get secrets/status a/s', 'cannot read subresource'],
  ['get configmaps a/m', 'allow'],
  ['get configmaps a/s', unrelated],
  ['get configmaps.example.com a/m', ''],
  ['get persistentvolumeclaims a/c', 'allow'],
  ['patch persistentvolumeclaims/status a/c', 'allow'],
  ['get persistentvolumeclaims/status a/c', 'can only get/update/patch this type'],
  ['update persistentvolumeclaims/status a/d', unrelated],
  ['patch persistentvolumeclaims a/c', 'can only get individual resources of this type'],
  ['get persistentvolumes v', 'allow'],
  ['get persistentvolumes w', unrelated],
  ['get persistentvolumes a/v', unrelated],
  ['get persistentvolumes/status v', 'cannot get subresource'],
  ['get resourceclaims.resource.k8s.io a/r', 'allow'],
  ['get resourceclaims.resource.k8s.io a/x', unrelated],
  ['get volumeattachments.storage.k8s.io at', 'allow'],
  ['get volumeattachments.storage.k8s.io au', unrelated],
  ['get volumeattachments.storage.k8s.io a/at', unrelated],
  ['create serviceaccounts/token a/sa', 'allow'],
  ['create serviceaccounts/token a/sb', unrelated],
  ['create serviceaccounts a/sa', 'can only create token subresource of serviceaccount'],
  ['create serviceaccounts/token a/', 'can only create tokens for individual service accounts'],
  ['get serviceaccounts a/sa', 'not allowed to get service accounts'],
  ['update leases.coordination.k8s.io kube-node-lease/n', 'allow'],
  [
    'update leases.coordination.k8s.io kube-node-lease/m',
    'can only access node lease with the same name as the requesting node',
  ],
  [
    'update leases.coordination.k8s.io a/n',
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  ['get csinodes.storage.k8s.io n', 'allow'],
  [
    'get csinodes.storage.k8s.io m',
    'can only access CSINode with the same name as the requesting node',
  ],
  ['delete resourceslices.resource.k8s.io sl', 'allow'],
  ['get resourceslices.resource.k8s.io sm', unrelated],
  ['get resourceslices.resource.k8s.io a/sl', unrelated],
  ['deletecollection resourceslices.resource.k8s.io ?spec.nodeName=n', 'allow'],
  [
    'list resourceslices.resource.k8s.io ?spec.nodeName=m',
    'can only list/watch/deletecollection resourceslices with nodeName field selector',
  ],
  ['get nodes n', 'allow'],
  ['get nodes m', "node 'n' cannot read 'm', only its own Node object"],
  ['list nodes', "node 'n' cannot read all nodes, only its own Node object"],
  ['delete nodes n', ''],
  ['patch nodes m', 'allow'],
  ['get nodes/proxy n', ''],
  ['get pods a/p', 'allow'],
  ['get pods a/q', unrelated],
  ['list pods a/ ?spec.nodeName=n', 'allow'],
  ['watch pods ?metadata.namespace=x,spec.nodeName=n', 'allow'],
  ['list pods ?spec.nodeName=m', 'can only list/watch pods with spec.nodeName field selector'],
  ['list pods ?spec.nodeName!=n', 'can only list/watch pods with spec.nodeName field selector'],
  ['list pods ?metadata.name=n', 'can only list/watch pods with spec.nodeName field selector'],
  ['deletecollection pods a/ ?spec.nodeName=n', ''],
  ['patch pods a/p', ''],
  ['create pods/binding a/p', ''],
  ['create pods/eviction a/q', 'allow'],
  ['get runtimeclasses.node.k8s.io x', 'allow'],
  ['list namespaces', ''],
]
for (const [question, wanted] of cases)
  test(`a request "${question}" from a node results in "${wanted}"`, () =>
    assert.equal(ask(question), wanted))

test('a user is a node only if the user name begins with system:node: and the groups contain system:nodes', () => {
  assert.equal(ask('get nodes n', { groups: ['system:node'] }), '')
  assert.equal(ask('get nodes n', { user: 'n' }), '')
  assert.equal(ask('get nodes n', { user: 'system:node:' }), 'unknown node for user "system:node:"')
  assert.equal(ask('get secrets a/s', { user: 'system:node:m' }), unrelated.replace("'n'", "'m'"))
  assert.equal(
    ask('get secrets a/s', { user: 'system:node:toString' }),
    unrelated.replace("'n'", "'toString'"),
  )
})

test('if the gate AuthorizeNodeWithSelectors is off, a node can read all nodes and pods', () => {
  const gates = withOff('AuthorizeNodeWithSelectors')
  for (const question of [
    'list nodes',
    'get nodes m',
    'list pods',
    'get pods a/q',
    'list resourceslices.resource.k8s.io',
  ]) {
    assert.equal(ask(question, { gates }), 'allow', question)
  }
  assert.equal(ask('delete nodes n', { gates }), '')
  assert.equal(ask('get secrets a/of-m', { gates }), unrelated)
})

test('if the gate KubeletServiceAccountTokenForCredentialProviders is on, a node can read the service accounts of its pods', () => {
  const gates = withOn('KubeletServiceAccountTokenForCredentialProviders')
  assert.equal(ask('get serviceaccounts a/sa', { gates }), 'allow')
  assert.equal(ask('get serviceaccounts a/sb', { gates }), unrelated)
})
