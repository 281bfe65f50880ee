import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceLabels } from './resource-labels.ts'

const paths = [
  'configmaps/default/a',
  'deployments/default/a',
  'services/specs/default/a',
  'events/default/a',
  'example.com/widgets/default/a',
]

test('metrics of etcd requests name the first part of the key in 1.33', () => {
  const { names, of } = resourceLabels(33)
  assert.deepEqual(names, ['type'])
  assert.deepEqual(paths.map(of), [
    ['configmaps'],
    ['deployments'],
    ['services'],
    ['events'],
    ['example.com'],
  ])
})

test('metrics of etcd requests name the group and resource since 1.34', () => {
  const { names, of } = resourceLabels(34)
  assert.deepEqual(names, ['group', 'resource'])
  assert.deepEqual(paths.map(of), [
    ['', 'configmaps'],
    ['apps', 'deployments'],
    ['', 'services'],
    ['', 'events'],
    ['example.com', 'widgets'],
  ])
})
