/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. If the rules differ between API versions, the key ends with the version.
 */
import type { KindRules } from '../../kind-rules.ts'
import { laterMigrationRules } from './later-migration.ts'
import { storageVersionMigrationRules } from './storage-version-migration.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['StorageVersionMigration.storagemigration.k8s.io v1alpha1', storageVersionMigrationRules],
  ['StorageVersionMigration.storagemigration.k8s.io v1beta1', laterMigrationRules],
  ['StorageVersionMigration.storagemigration.k8s.io v1', laterMigrationRules],
]
