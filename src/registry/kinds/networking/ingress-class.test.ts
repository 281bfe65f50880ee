import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { builtInResources } from '../../built-in.ts'

const resource = builtInResources().find(({ kind }) => kind === 'IngressClass')
assert.ok(resource !== undefined)
const { rules, shape, table } = resource

const classWith = (spec: Fields): KubeObject =>
  shape.setDefaults({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name: 'c', resourceVersion: '1' },
    spec: { controller: 'example.com/c', ...spec },
  })

const faultsOf = (spec: Fields): readonly string[] =>
  rules.validate(classWith(spec)).map(({ path, message }) => `${path}: ${message}`)

const parameters = { kind: 'Settings', name: 's' }

test('the parameters of an IngressClass refer to a cluster-scoped object by default', () => {
  assert.deepEqual(classWith({ parameters })['spec'], {
    controller: 'example.com/c',
    parameters: { ...parameters, scope: 'Cluster' },
  })
})

test('the controller of an IngressClass must consist of a domain and a path', () => {
  assert.deepEqual(faultsOf({}), [])
  assert.deepEqual(faultsOf({ controller: '' }), ['spec.controller: Required value'])
  assert.deepEqual(faultsOf({ controller: 'nginx' }), [
    'spec.controller: Invalid value: "nginx": must be a domain-prefixed path (such as "acme.io/foo")',
  ])
})

test('parameters of an IngressClass have a namespace if and only if their scope is Namespace', () => {
  assert.deepEqual(faultsOf({ parameters: { ...parameters, namespace: 'n' } }), [
    "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'",
  ])
  const namespaced = { ...parameters, scope: 'Namespace' }
  assert.deepEqual(faultsOf({ parameters: { ...namespaced, namespace: 'n' } }), [])
  assert.deepEqual(faultsOf({ parameters: namespaced }), [
    "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
  ])
})

test('the controller of an IngressClass is immutable', () => {
  const faults = rules.validateUpdate(classWith({ controller: 'example.com/d' }), classWith({}))
  assert.deepEqual(
    faults.map(({ message }) => message),
    ['Invalid value: "example.com/d": field is immutable'],
  )
})

test('kubectl get shows the parameters of an IngressClass', () => {
  const [name, controller, shown] = table.cells(classWith({ parameters }))
  assert.deepEqual([name, controller, shown], ['c', 'example.com/c', 'Settings/s'])
})
