import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deprecationOf, kindsOf } from './lifecycle.ts'

test('a deprecated kind has a warning with the text of kube-apiserver', () => {
  const warnings: readonly (readonly [release: number, groupVersion: string, kind: string])[] = [
    [33, 'v1', 'ComponentStatus'],
    [33, 'v1', 'Endpoints'],
    [33, 'admissionregistration.k8s.io/v1beta1', 'ValidatingAdmissionPolicy'],
    [33, 'storage.k8s.io/v1alpha1', 'VolumeAttributesClass'],
    [34, 'storage.k8s.io/v1alpha1', 'VolumeAttributesClass'],
  ]
  assert.deepEqual(
    warnings.map((args) => deprecationOf(...args)),
    [
      'v1 ComponentStatus is deprecated in v1.19+',
      'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
      'admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicy is deprecated in v1.31+, unavailable in v1.34+',
      'storage.k8s.io/v1alpha1 VolumeAttributesClass is deprecated in v1.32+, unavailable in v1.35+',
      'storage.k8s.io/v1alpha1 VolumeAttributesClass is deprecated in v1.32+, unavailable in v1.35+; use storage.k8s.io/v1 VolumeAttributesClass',
    ],
  )
})

test('a kind causes no deprecation warning in a release in which it is not deprecated', () => {
  assert.equal(deprecationOf(33, 'storage.k8s.io/v1beta1', 'VolumeAttributesClass'), undefined)
  assert.equal(deprecationOf(32, 'v1', 'Endpoints'), undefined)
  assert.equal(deprecationOf(33, 'apps/v1', 'Deployment'), undefined)
  assert.equal(deprecationOf(33, 'example.com/v1', 'Thing'), undefined)
})

test('the lifecycle of a kind in a release agrees with the source code of that Kubernetes release', () => {
  const kind = 'ClusterTrustBundle'
  const at = (release: number): unknown => kindsOf(release, 'certificates.k8s.io/v1beta1').get(kind)
  assert.deepEqual(
    [32, 33, 36, 37].map((release) => at(release)),
    [
      undefined,
      { introduced: 33, deprecated: 36, removed: 39 },
      { introduced: 33, deprecated: 37, removed: 40 },
      {
        introduced: 33,
        deprecated: 37,
        removed: 40,
        replacement: 'certificates.k8s.io/v1/ClusterTrustBundle',
      },
    ],
  )
})
