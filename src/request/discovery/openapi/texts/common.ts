/**
 * Descriptions of types that all kinds share, in the format that ../descriptions.ts explains.
 * kube-apiserver's conformance tests look for some of the words.
 */
export const commonTexts = `
Any: An object.
  apiVersion: APIVersion defines the group and version of the API in which the object is written, for example apps/v1.
  kind: The kind of the object, in CamelCase. It cannot be changed.
  metadata: Standard object's metadata: its name, its labels, and what the server records about it.
  spec: The desired state, written by users.
  status: The observed state, written by the system.
  conditions: The latest observations of the object's state, one entry per type.
  observedGeneration: The generation of the object for which the status was computed.

List: A list of objects of one kind.
  metadata: The version of the list and, if it is incomplete, the token to continue it.

ObjectMeta: Metadata that every stored object has.
  name: The name, which is unique among the objects of this kind in a namespace. It cannot be changed.
  generateName: A prefix for the name. If the object has no name, the server appends a random suffix to this prefix.
  namespace: The namespace of the object. It is empty for cluster-scoped kinds, and cannot be changed.
  selfLink: No longer used.
  uid: A unique identifier, which is never used for another object. Set by the server.
  resourceVersion: Changes with every write. If an update contains it, the update fails if the object was modified in the meantime. Treat it as an opaque string.
  generation: A number that increases with every change of the desired state. Set by the server.
  creationTimestamp: CreationTimestamp is a timestamp that the server sets when the object is created.
  deletionTimestamp: The time after which the object is deleted. Set by the server when a delete has to wait for finalizers or a grace period.
  deletionGracePeriodSeconds: The grace period of the deletion, in seconds. Set by the server.
  labels: Keys and values that identify the object. Selectors match them.
  annotations: Keys and values for tools and people. Selectors cannot match them.
  ownerReferences: The objects that own this one. It is deleted when all of them are gone.
  finalizers: Tasks that must be completed before the object is removed. The component that completes a task removes its entry.
  managedFields: The fields that each manager owns, for server-side apply. Maintained by the server.

OwnerReference: An object that owns this one. It is in the same namespace, or cluster-scoped.
  apiVersion: The group and version of the owner.
  kind: The kind of the owner.
  name: The name of the owner.
  uid: The UID of the owner. Another object with the same name is not the owner.
  controller: Whether the owner is the controller of this object.
  blockOwnerDeletion: Whether a foreground deletion of the owner waits until this object is deleted.

ManagedFieldsEntry: The fields that one manager owns.
  manager: The name of the manager.
  operation: How the manager wrote the fields: Apply or Update.
  apiVersion: The version of the API in which the fields are listed.
  time: When the manager last changed these fields, or the set of fields that it owns.
  fieldsType: The format of the fields, which is FieldsV1.
  fieldsV1: The fields, as a tree of their names.
  subresource: The subresource through which the manager wrote. Empty for the object itself.

ListMeta: Metadata of a list.
  selfLink: No longer used.
  resourceVersion: The version of the list. A watch can start from it.
  continue: The token to request the next part of the list. Empty in the last part.
  remainingItemCount: The approximate number of objects in the following parts, if it is known.

LabelSelector: Selects objects by their labels. All requirements must be met. An empty selector matches all objects.
  matchLabels: Labels that must have exactly these values.
  matchExpressions: Requirements on labels.

LabelSelectorRequirement: A requirement on one label.
  key: The key of the label.
  operator: In, NotIn, Exists or DoesNotExist.
  values: The values for In and NotIn. Must be empty for the other operators.

Condition: One aspect of an object's state.
  type: The type of the condition, in CamelCase.
  status: The status of the condition: True, False or Unknown.
  observedGeneration: The generation of the object for which the condition was set.
  lastProbeTime: When the condition was last checked.
  lastHeartbeatTime: When the last heartbeat was received.
  lastUpdateTime: When the condition was last updated.
  lastTransitionTime: When the status last changed.
  reason: The reason for the last transition, as one CamelCase word for programs.
  message: Details about the last transition, for people.

Status: The result of a request.
  status: Success or Failure.
  message: A description of the result, for people.
  reason: The reason for a failure, as one word for programs.
  details: The affected object, and the causes of the failure.
  code: The HTTP status code.

StatusDetails: Details about the result of a request.
  name: The name of the affected object.
  group: The API group of the affected object.
  kind: The kind or resource of the affected object.
  uid: The UID of the affected object, if it has one.
  causes: The causes of the failure.
  retryAfterSeconds: The number of seconds to wait before retrying.

StatusCause: One cause of a failure.
  reason: The type of the error, as one word for programs.
  message: A description of the error, for people.
  field: The path of the field that caused the error, for example spec.ports[0].name.

DeleteOptions: Options of a delete.
  gracePeriodSeconds: The number of seconds that the object has to shut down. Zero deletes it immediately.
  preconditions: Conditions that the object must meet, or it is not deleted.
  orphanDependents: Deprecated. Use propagationPolicy.
  propagationPolicy: What happens to dependents: Orphan keeps them, Background deletes them afterwards, Foreground deletes them first.
  dryRun: With the value All, the request is processed but nothing is stored.

Preconditions: Conditions that an object must meet to be deleted.
  uid: The UID that the object must have.
  resourceVersion: The resourceVersion that the object must have.

ObjectReference: A reference to another object.
  kind: The kind of the object.
  namespace: The namespace of the object.
  name: The name of the object.
  uid: The UID of the object.
  apiVersion: The group and version of the object's kind.
  resourceVersion: The version of the object to which the reference refers.
  fieldPath: The part of the object to which the reference refers.

LocalObjectReference: A reference to an object in the same namespace.
  name: The name of the object.

TypedLocalObjectReference: A reference to an object of any kind in the same namespace.
  apiGroup: The API group of the object's kind. Empty for the core group.
  kind: The kind of the object.
  name: The name of the object.

Time: A time in RFC 3339 format, in UTC, with a resolution of seconds.
MicroTime: A time in RFC 3339 format, with a resolution of microseconds.
FieldsV1: A tree of field names, whose leaves are the owned fields.
Quantity: A number with an optional suffix, such as 500m, 1.5 or 2Gi. Suffixes are m, k, M, G, T, P, E and Ki, Mi, Gi, Ti, Pi, Ei.
IntOrString: An integer, or a string such as the name of a port or a percentage.
RawExtension: An object of any kind.
Patch: A patch, in the format that the Content-Type header names.
Info: Version information of the server.
WatchEvent: A change that a watch reports.
  object: The object after the change. For a deletion it is the last state of the object, and for the type ERROR a Status.
JSON: Any JSON value.
JSONSchemaPropsOrArray: A schema, or a list of schemas.
JSONSchemaPropsOrBool: A schema, or a boolean that allows or forbids any value.
JSONSchemaPropsOrStringArray: A schema, or a list of property names.
`
