import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInResources } from '../../built-in.ts'

const served = () => true

test('PodCertificateRequest is served only if its feature gate is on', () => {
  const areServed = [false, true].map((isOn) => {
    const gates = { release: 34, isOn: () => isOn }
    const resources = builtInResources({ gates, isServed: served })
    return resources.some(({ kind }) => kind === 'PodCertificateRequest')
  })
  assert.deepEqual(areServed, [false, true])
})
