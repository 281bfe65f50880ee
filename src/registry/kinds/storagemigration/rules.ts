/**
 * The kinds of this group that have rules of their own, by the kind as errors name it (and version,
 * where it matters).
 */
import type { KindRules } from '../../kind-rules.ts'
import { storageVersionMigrationRules } from './storage-version-migration.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['StorageVersionMigration.storagemigration.k8s.io', storageVersionMigrationRules],
]
