import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestLabels } from './request-labels.ts'

const paths = [
  'configmaps/default/a',
  'deployments/default/a',
  'services/specs/default/a',
  'events/default/a',
  'example.com/widgets/default/a',
]

test('metrics of etcd requests name the first part of the key in 1.33', () => {
  const { names, of } = requestLabels(33)
  assert.deepEqual(names, ['operation', 'type'])
  assert.deepEqual(
    paths.map((path) => of(path, 'get')),
    [
      ['get', 'configmaps'],
      ['get', 'deployments'],
      ['get', 'services'],
      ['get', 'events'],
      ['get', 'example.com'],
    ],
  )
})

test('metrics of etcd requests name the group and resource since 1.34', () => {
  const { names, of } = requestLabels(34)
  assert.deepEqual(names, ['group', 'operation', 'resource'])
  assert.deepEqual(
    paths.map((path) => of(path, 'get')),
    [
      ['', 'get', 'configmaps'],
      ['apps', 'get', 'deployments'],
      ['', 'get', 'services'],
      ['', 'get', 'events'],
      ['example.com', 'get', 'widgets'],
    ],
  )
})
