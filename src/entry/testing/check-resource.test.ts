import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { defaultMinor } from '../../api/releases.ts'
import { checkResource } from './check-resource.ts'

const added = {
  definitions: ['teas.example.com'],
  apiServices: ['v1.', 'v1.apps', 'v1.example.com'],
}

suite('a resource that the server does not have is rejected', () => {
  for (const [resource, advice] of [
    ['configmapz', 'the server has no resource configmapz; did you mean configmaps?'],
    ['ConfigMap', 'the server has no resource ConfigMap; did you mean configmaps?'],
    ['deploy', 'the server has no resource deploy; did you mean deployments?'],
    ['Pod/status', 'the server has no resource Pod; did you mean pods?'],
    ['tea', 'the server has no resource tea; did you mean teas.example.com?'],
    [
      'coffees.example.org',
      'the server has no resource coffees.example.org; use its plural name, and create its CustomResourceDefinition first',
    ],
    ['pods/statsu', 'pods has no subresource statsu; did you mean pods/status?'],
    ['configmaps/status', 'configmaps has no subresource status; it has none'],
  ] as const)
    test(resource, () => {
      assert.throws(() => checkResource(resource, added, defaultMinor), {
        name: 'RangeError',
        message: `match.resource: ${advice}`,
      })
    })
})

test('built-in and custom resources, their subresources and patterns are accepted', () => {
  for (const resource of [
    'configmaps',
    'deployments.apps',
    'pods/status',
    'pods/*',
    '*',
    '*/status',
    'teas',
    'teas.example.com',
    'teas/status',
    'tokenreviews',
  ])
    checkResource(resource, added, defaultMinor)
})

test('a resource is accepted only if the Kubernetes release of the cluster has it', () => {
  checkResource('workloads', added, 37)
  assert.throws(() => checkResource('workloads', added, 33), /no resource workloads/)
})

test('resources of aggregated API servers are accepted', () => {
  const aggregated = { ...added, apiServices: ['v1.apps', 'v1beta1.metrics.k8s.io'] }
  for (const resource of ['pods.metrics.k8s.io', 'flunders'])
    checkResource(resource, aggregated, defaultMinor)
  assert.throws(() => checkResource('pods.example.org', aggregated, defaultMinor), /no resource/)
})
