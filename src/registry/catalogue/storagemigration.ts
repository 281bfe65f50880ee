/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const storagemigrationTypes = `
package storagemigration/v1alpha1

MigrationConditionType = string

StorageVersionMigration
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec StorageVersionMigrationSpec 2
  status StorageVersionMigrationStatus 3

StorageVersionMigrationSpec
  resource! GroupVersionResource 1
  continueToken string 2

GroupVersionResource
  group string 1
  version string 2
  resource string 3

MigrationCondition
  type! MigrationConditionType 1
  status! core.ConditionStatus 2
  lastUpdateTime meta.Time 3
  reason string 4
  message string 5

StorageVersionMigrationStatus
  conditions []MigrationCondition 1 map=type patch=merge key=type
  resourceVersion string 2
`
