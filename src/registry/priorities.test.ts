import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareVersions } from './priorities.ts'

test('versions are sorted by stability, then by descending number', () => {
  const versions = [
    'v1alpha1',
    'v1',
    'foo10',
    'v11beta2',
    'v2',
    'v10beta3',
    'v3beta1',
    'v11alpha2',
    'foo1',
    'v12alpha1',
  ]
  const wanted = [
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'v1alpha1',
    'foo1',
    'foo10',
  ]
  assert.deepEqual(versions.toSorted(compareVersions), wanted)
})
