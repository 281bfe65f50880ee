/**
 * The metadata types of configuration files, a subset of registry/catalogue/meta.ts.
 * objects/schema/read-types.ts describes the syntax.
 */
export const metaTypes = `
package meta/v1

ManagedFieldsOperationType = string

TypeMeta
  kind string 1
  apiVersion string 2

ObjectMeta
  name string 1
  generateName string 2
  namespace string 3
  selfLink string 4
  uid UID 5
  resourceVersion string 6
  generation int64 7
  creationTimestamp Time 8
  deletionTimestamp *Time 9
  deletionGracePeriodSeconds *int64 10
  labels map[string]string 11
  annotations map[string]string 12
  ownerReferences []OwnerReference 13
  finalizers []string 14
  managedFields []ManagedFieldsEntry 17

OwnerReference
  apiVersion! string 5
  kind! string 1
  name! string 3
  uid! UID 4
  controller *bool 6
  blockOwnerDeletion *bool 7

ManagedFieldsEntry
  manager string 1
  operation ManagedFieldsOperationType 2
  apiVersion string 3
  time *Time 4
  fieldsType string 6
  fieldsV1 *FieldsV1 7
  subresource string 8
`
