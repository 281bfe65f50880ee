import assert from 'node:assert/strict'
import test from 'node:test'
import { customName } from './names.ts'

test('a custom resource never has the definition name of a built-in type', () => {
  const place = { version: 'v1', kind: 'CustomResourceDefinition' }
  assert.equal(
    customName({ ...place, group: 'stable.example.com' }),
    'com.example.stable.v1.CustomResourceDefinition',
  )
  const group = 'apiextensions.apis.pkg.apiextensions-apiserver.k8s.io'
  assert.equal(
    customName({ ...place, group }),
    'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition_v2',
  )
})
