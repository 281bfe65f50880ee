/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const metaTypes = `
package meta/v1

ResourceVersionMatch = string
DeletionPropagation = string
StatusReason = string
CauseType = string
Verbs = wrapped []string
LabelSelectorOperator = string
FieldSelectorOperator = string
ManagedFieldsOperationType = string
ConditionStatus = string

TypeMeta
  kind string 1
  apiVersion string 2

ListMeta
  selfLink string 1
  resourceVersion string 2
  continue string 3
  remainingItemCount *int64 4

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
  ownerReferences []OwnerReference 13 map=uid patch=merge key=uid
  finalizers []string 14 set patch=merge
  managedFields []ManagedFieldsEntry 17 atomic

OwnerReference atomic
  apiVersion! string 5
  kind! string 1
  name! string 3
  uid! UID 4
  controller *bool 6
  blockOwnerDeletion *bool 7

ListOptions
  ...TypeMeta
  labelSelector string 1
  fieldSelector string 2
  watch bool 3
  allowWatchBookmarks bool 9
  resourceVersion string 4
  resourceVersionMatch ResourceVersionMatch 10
  timeoutSeconds *int64 5
  limit int64 7
  continue string 8
  sendInitialEvents *bool 11

GetOptions
  ...TypeMeta
  resourceVersion string 1

DeleteOptions
  ...TypeMeta
  gracePeriodSeconds *int64 1
  preconditions *Preconditions 2
  orphanDependents *bool 3
  propagationPolicy *DeletionPropagation 4
  dryRun []string 5 atomic
  ignoreStoreReadErrorWithClusterBreakingPotential *bool 6

CreateOptions
  ...TypeMeta
  dryRun []string 1 atomic
  fieldManager string 3
  fieldValidation string 4

PatchOptions
  ...TypeMeta
  dryRun []string 1 atomic
  force *bool 2
  fieldManager string 3
  fieldValidation string 4

UpdateOptions
  ...TypeMeta
  dryRun []string 1 atomic
  fieldManager string 2
  fieldValidation string 3

Preconditions
  uid *UID 1
  resourceVersion *string 2

Status
  ...TypeMeta
  metadata ListMeta 1
  status string 2
  message string 3
  reason StatusReason 4
  details *StatusDetails 5 atomic
  code int32 6

StatusDetails
  name string 1
  group string 2
  kind string 3
  uid UID 6
  causes []StatusCause 4 atomic
  retryAfterSeconds int32 5

StatusCause
  reason CauseType 1
  message string 2
  field string 3

APIVersions
  ...TypeMeta
  versions! []string 1 atomic
  serverAddressByClientCIDRs! []ServerAddressByClientCIDR 2 atomic

APIGroupList
  ...TypeMeta
  groups! []APIGroup 1 atomic

APIGroup
  ...TypeMeta
  name! string 1
  versions! []GroupVersionForDiscovery 2 atomic
  preferredVersion GroupVersionForDiscovery 3
  serverAddressByClientCIDRs []ServerAddressByClientCIDR 4 atomic

ServerAddressByClientCIDR
  clientCIDR! string 1
  serverAddress! string 2

GroupVersionForDiscovery
  groupVersion! string 1
  version! string 2

APIResource
  name! string 1
  singularName! string 6
  namespaced! bool 2
  group string 8
  version string 9
  kind! string 3
  verbs! Verbs 4
  shortNames []string 5 atomic
  categories []string 7 atomic
  storageVersionHash string 10

APIResourceList
  ...TypeMeta
  groupVersion! string 1
  resources! []APIResource 2 atomic

LabelSelector atomic
  matchLabels map[string]string 1
  matchExpressions []LabelSelectorRequirement 2 atomic

LabelSelectorRequirement
  key! string 1
  operator! LabelSelectorOperator 2
  values []string 3 atomic

FieldSelectorRequirement
  key! string 1
  operator! FieldSelectorOperator 2
  values []string 3 atomic

ManagedFieldsEntry
  manager string 1
  operation ManagedFieldsOperationType 2
  apiVersion string 3
  time *Time 4
  fieldsType string 6
  fieldsV1 *FieldsV1 7
  subresource string 8

PartialObjectMetadata
  ...TypeMeta
  metadata ObjectMeta 1

Condition
  type! string 1
  status! ConditionStatus 2
  observedGeneration int64 3
  lastTransitionTime! Time 4
  reason! string 5
  message! string 6
`
