import assert from 'node:assert/strict'
import test from 'node:test'
import { type Fields, fieldsOf, type KubeObject } from '../../api/object.ts'
import { customResources } from './custom-resource.ts'
import { readCrd } from './crd.ts'

const given: KubeObject = {
  kind: 'Widget',
  apiVersion: 'example.com/v1',
  metadata: { name: 'w' },
  spec: { a: 'x', other: { deep: [1] } },
  more: true,
}

function pruned(more: Fields, version: Fields): Fields {
  const versions = [{ name: 'v1', served: true, storage: true, ...version }]
  const [resource] = customResources(
    readCrd({
      kind: 'CustomResourceDefinition',
      apiVersion: 'apiextensions.k8s.io/v1',
      metadata: { name: 'widgets.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', versions, ...more },
    }),
  )
  assert(resource !== undefined)
  return resource.shape.custom?.prune(given).object ?? {}
}

const schema = {
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } },
  },
}

test('fields of custom objects that are not in the schema are dropped', () => {
  assert.deepEqual({ ...fieldsOf(pruned({}, { schema })['spec']) }, { a: 'x' })
  assert.equal(pruned({}, { schema })['more'], undefined)
})

test('objects of old CRDs that preserve unknown fields or have no schema keep all fields', () => {
  assert.equal(pruned({ preserveUnknownFields: true }, { schema }), given)
  assert.equal(pruned({}, {}), given)
})
