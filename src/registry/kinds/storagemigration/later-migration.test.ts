import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGatesOf } from '../../../api/gates.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { laterMigrationRules } from './later-migration.ts'

const gates = defaultGatesOf(35)

const migration = (spec: Fields, status: Fields = {}): KubeObject => ({
  apiVersion: 'storagemigration.k8s.io/v1beta1',
  kind: 'StorageVersionMigration',
  metadata: { name: 'm' },
  spec,
  status,
})

const pods = { resource: { resource: 'pods' } }

test('since 1.35, a migration needs the name of a resource and an optional group', () => {
  const faults = (spec: Fields): readonly string[] =>
    (laterMigrationRules.validate?.(migration(spec), gates) ?? []).map(({ path }) => path)
  assert.deepEqual(faults(pods), [])
  assert.deepEqual(faults({ resource: { group: 'apps', resource: 'deployments' } }), [])
  assert.deepEqual(faults({ resource: { group: '-', resource: '1' } }), [
    'spec.resource.resource',
    'spec.resource.group',
  ])
  assert.deepEqual(faults({}), ['spec.resource.resource'])
})

test('since 1.35, the spec of a migration is immutable', () => {
  const changed = migration({ resource: { resource: 'nodes' } })
  const faults = laterMigrationRules.validateUpdate?.(changed, migration(pods), gates) ?? []
  assert.deepEqual(
    faults.map(({ path, message }) => `${path} ${message.replace(/.*: /, '')}`),
    ['spec field is immutable'],
  )
})

test('since 1.35, the status of a migration needs a resource version that can be compared', () => {
  const faults = (resourceVersion: string, before: string): readonly string[] =>
    (
      laterMigrationRules.status?.validateUpdate?.(
        migration(pods, { resourceVersion }),
        migration(pods, { resourceVersion: before }),
        gates,
      ) ?? []
    ).map(({ message }) => message.replace(/^Invalid value: "[^"]*": /, ''))
  assert.deepEqual(faults('10', ''), [])
  assert.deepEqual(faults('010', ''), ['resource version is not well formed: 010'])
  assert.deepEqual(faults('11', '10'), ['field is immutable'])
})
