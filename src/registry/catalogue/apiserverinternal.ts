/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const apiserverinternalTypes = `
package apiserverinternal/v1alpha1

StorageVersionConditionType = string
ConditionStatus = string

StorageVersion
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! StorageVersionSpec 2
  status! StorageVersionStatus 3

StorageVersionSpec

StorageVersionStatus
  storageVersions []ServerStorageVersion 1 map=apiServerID
  commonEncodingVersion *string 2
  conditions []StorageVersionCondition 3 map=type

ServerStorageVersion
  apiServerID string 1
  encodingVersion string 2
  decodableVersions []string 3 set
  servedVersions []string 4 set

StorageVersionCondition
  type! StorageVersionConditionType 1
  status! ConditionStatus 2
  observedGeneration int64 3
  lastTransitionTime meta.Time 4
  reason! string 5
  message* string 6
`
