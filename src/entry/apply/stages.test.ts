import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stagesOf } from './stages.ts'

test('each object is applied after the objects that it needs', () => {
  const kinds = [
    ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'],
    ['apps/v1', 'Deployment'],
    ['example.com/v1', 'Namespace'],
    ['v1', 'ConfigMap'],
    ['rbac.authorization.k8s.io/v1', 'RoleBinding'],
    ['rbac.authorization.k8s.io/v1', 'Role'],
    ['v1', 'ServiceAccount'],
    ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
    ['v1', 'Namespace'],
  ] as const
  const manifests = kinds.map(([apiVersion, kind]) => ({
    object: { apiVersion, kind, metadata: { name: 'a' } },
    source: '',
  }))
  assert.deepEqual(
    stagesOf(manifests).map((stage) => stage.map(({ object }) => object.kind)),
    [
      ['CustomResourceDefinition', 'Namespace'],
      ['ServiceAccount'],
      ['Role'],
      ['RoleBinding'],
      ['ConfigMap'],
      // A custom resource can have the name of a built-in kind.
      ['Deployment', 'Namespace'],
      ['ValidatingWebhookConfiguration'],
    ],
  )
})
