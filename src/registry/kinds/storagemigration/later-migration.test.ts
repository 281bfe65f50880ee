import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGatesOf } from '../../../api/gates.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { faultsOfRelease } from '../../release-faults.ts'
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

const faultsOf = (spec: Fields): readonly string[] =>
  (laterMigrationRules.validate?.(migration(spec), gates) ?? []).map(({ path }) => path)

test('since 1.35, a migration needs the name of a resource and an optional group', () => {
  assert.deepEqual(faultsOf(pods), [])
  assert.deepEqual(faultsOf({ resource: { group: 'apps', resource: 'deployments' } }), [])
  assert.deepEqual(faultsOf({ resource: { group: '-', resource: '1' } }), [
    'spec.resource.resource',
    'spec.resource.group',
  ])
  assert.deepEqual(faultsOf({}), ['spec.resource.resource'])
})

test('since 1.35, the spec of a migration is immutable', () => {
  const changed = migration({ resource: { resource: 'nodes' } })
  const faults = laterMigrationRules.validateUpdate?.(changed, migration(pods), gates) ?? []
  assert.deepEqual(
    faultsOfRelease(faults, 35).map(({ message }) => message),
    ['Invalid value: {"Resource":{"group":"","resource":"nodes"}}: field is immutable'],
  )
})

const statusFaults = (resourceVersion: string, before: string): readonly string[] =>
  (
    laterMigrationRules.status?.validateUpdate?.(
      migration(pods, { resourceVersion }),
      migration(pods, { resourceVersion: before }),
      gates,
    ) ?? []
  ).map(({ message }) => message.replace(/^Invalid value: "[^"]*": /, ''))

test('since 1.35, the status of a migration needs a resource version that can be compared', () => {
  assert.deepEqual(statusFaults('10', ''), [])
  assert.deepEqual(statusFaults('010', ''), ['resource version is not well formed: 010'])
  assert.deepEqual(statusFaults('11', '10'), ['field is immutable'])
})
