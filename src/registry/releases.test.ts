import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGatesOf } from '../api/gates.ts'
import { builtInResources } from './built-in.ts'
import { resourcesOf } from './read-resources.ts'
import { apiVersionOf } from './resource.ts'
import { schemeOf } from './scheme.ts'
import { findType, typeOf } from './types.ts'

/** The releases whose types are in the catalog. */
const releases = [33, 34, 35, 36, 37]

const storedVersion = (release: number, name: string): string | undefined =>
  resourcesOf(release).find((row) => `${apiVersionOf(row)} ${row.plural}` === name)?.storageVersion

const hasField = (release: number, name: string): boolean =>
  typeOf('core/v1', 'PodSpec', release).byName.has(name)

test('every resource of every release has a type, and can be converted to its storage version', () => {
  for (const release of releases) {
    const gates = { ...defaultGatesOf(release), isOn: () => true }
    for (const { shape, kind } of builtInResources({ isServed: () => true, gates })) {
      assert.equal(shape.struct.name, kind)
      assert.ok(shape.stored === undefined || shape.stored.struct.name === kind)
    }
  }
})

test('a type has only the fields that it has in its Kubernetes release', () => {
  assert.equal(hasField(33, 'hostnameOverride'), false)
  assert.equal(hasField(34, 'hostnameOverride'), true)
  assert.equal(hasField(35, 'workloadRef'), true)
  assert.equal(hasField(36, 'workloadRef'), false)
})

test('the storage version of a resource depends on the Kubernetes release', () => {
  const name = 'resource.k8s.io/v1beta1 resourceclaims'
  assert.equal(storedVersion(33, name), undefined)
  assert.equal(storedVersion(34, name), 'resource.k8s.io/v1beta2')
  assert.equal(storedVersion(35, name), 'resource.k8s.io/v1')
})

test('the scheme of a release contains only the kinds of this release', () => {
  const [older, newer] = [33, 34].map((release) =>
    schemeOf('', release).find('resource.k8s.io/v1', 'ResourceClaim'),
  )
  assert.equal(older, undefined)
  assert.equal(newer?.goName, 'v1.ResourceClaim')
  assert.equal(findType('resource/v1alpha3', 'ResourceClaim', 34), undefined)
})
