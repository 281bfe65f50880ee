/**
 * Descriptions of types that all kinds share. ../descriptions.ts explains the format. Upstream's
 * conformance tests look for some of the words.
 */
export const commonTexts = `
Any: Whatever it is.
  apiVersion: APIVersion defines the group and version of the API that the object is written in, for example apps/v1.
  kind: What kind of object it is, in CamelCase. It cannot be changed.
  metadata: Standard object's metadata: its name, its labels, and what the server keeps about it.
  spec: What is wanted. Written by users.
  status: What has been found to be the case. Written by the system.
  conditions: What is true of it now, one entry for each question.
  observedGeneration: The generation of the object that the status was made for.

List: Objects of one kind.
  metadata: The version of the list and, if it was cut, where it goes on.

ObjectMeta: What every stored object has beside its content.
  name: The name, which no other object of this kind has in its namespace. It cannot be changed.
  generateName: The beginning of a name. The server adds a random end when the object has no name of its own.
  namespace: The namespace that the object lives in; empty for kinds without namespaces. It cannot be changed.
  selfLink: No longer used.
  uid: An identifier that no other object ever has. Set by the server.
  resourceVersion: Changes with every write. Send it back with an update to be told if somebody else was faster. Its text means nothing else.
  generation: Counts the changes of what is wanted. Set by the server.
  creationTimestamp: CreationTimestamp is a timestamp that the server sets when the object is created.
  deletionTimestamp: When the object is to be gone. Set by the server when a delete has to wait for finalizers or a grace period.
  deletionGracePeriodSeconds: How long the object had to end when its delete was asked for. Set by the server.
  labels: Names and values by which objects are selected.
  annotations: Names and values for tools and people. Nothing is selected by them.
  ownerReferences: The objects that this one belongs to. When all of them are gone, so is this one.
  finalizers: What must be done before the object is removed. Whoever has done its part takes its own entry away.
  managedFields: Which fields each writer owns, for server-side apply. Kept by the server.

OwnerReference: An object that owns this one, in the same namespace or without any.
  apiVersion: The group and version of the owner.
  kind: The kind of the owner.
  name: The name of the owner.
  uid: The identifier of the owner: another object of the same name is not meant.
  controller: Whether the owner is the one that manages this object.
  blockOwnerDeletion: Whether an owner that is deleted in the foreground waits for this object.

ManagedFieldsEntry: The fields that one writer owns.
  manager: The name of the writer.
  operation: Apply or Update: how the fields were written.
  apiVersion: The version of the API in which the fields are told.
  time: When the writer last changed which fields it owns, or their values.
  fieldsType: The form of the fields: FieldsV1.
  fieldsV1: The fields, as a tree of their names.
  subresource: The subresource that was written through; empty for the object itself.

ListMeta: What a list has beside its items.
  selfLink: No longer used.
  resourceVersion: The version at which the list was true. A watch may begin here.
  continue: Where the next part of the list begins; empty at the end.
  remainingItemCount: About how many objects follow, where that is known.

LabelSelector: Selects objects by their labels. All requirements must be met; an empty selector takes everything.
  matchLabels: Labels that must have exactly these values.
  matchExpressions: Further requirements.

LabelSelectorRequirement: A requirement of one label.
  key: The name of the label.
  operator: In, NotIn, Exists or DoesNotExist.
  values: The values for In and NotIn; none for the others.

Condition: What is true of an object, as far as one question goes.
  type: The question, in CamelCase.
  status: The answer: True, False or Unknown.
  observedGeneration: The generation of the object that the answer was found for.
  lastProbeTime: When it was last looked at.
  lastHeartbeatTime: When it was last heard of.
  lastUpdateTime: When the entry was last written.
  lastTransitionTime: When the answer last changed.
  reason: Why, in one CamelCase word for programs.
  message: Why, for people.

Status: The outcome of a request.
  status: Success or Failure.
  message: What happened, for people.
  reason: What happened, in one word for programs.
  details: The object that it was about, and the faults that were found.
  code: The status code of the HTTP answer.

StatusDetails: More about an outcome.
  name: The object that it was about.
  group: The group of its kind.
  kind: Its kind or resource.
  uid: Its identifier, if it has one.
  causes: Each fault by itself.
  retryAfterSeconds: How long to wait before asking again.

StatusCause: One fault.
  reason: What is wrong, in one word.
  message: What is wrong, for people.
  field: The path of the field, for example spec.ports[0].name.

DeleteOptions: How a delete is done.
  gracePeriodSeconds: How long the object may take to end; zero means at once.
  preconditions: What must be true of the object, or it is not deleted.
  orphanDependents: Deprecated: propagationPolicy says more.
  propagationPolicy: What becomes of dependents: Orphan leaves them, Background deletes them later, Foreground first.
  dryRun: If it has All, everything is done but for storing the result.

Preconditions: What must be true of an object that is to be deleted.
  uid: Its identifier.
  resourceVersion: Its version.

ObjectReference: Points to another object.
  kind: Its kind.
  namespace: Its namespace.
  name: Its name.
  uid: Its identifier.
  apiVersion: The group and version of its kind.
  resourceVersion: The version of it that is meant.
  fieldPath: The part of it that is meant.

LocalObjectReference: An object in the same namespace, by its name.
  name: Its name.

TypedLocalObjectReference: An object in the same namespace, of any kind.
  apiGroup: The group of its kind; empty for the core group.
  kind: Its kind.
  name: Its name.

Time: A time in RFC 3339, in UTC and to the second.
MicroTime: A time in RFC 3339 with microseconds.
FieldsV1: A tree of field names. A leaf is a field that is owned.
Quantity: A number with a unit: 500m, 1.5, 2Gi. Suffixes are m, k, M, G, T, P, E and Ki, Mi, Gi, Ti, Pi, Ei.
IntOrString: A whole number, or text such as the name of a port or a percentage.
RawExtension: Any object.
Patch: A change to an object, in the form that the Content-Type names.
Info: The version of the server.
WatchEvent: A change that a watch tells of.
  object: The object after the change; before it if it was deleted; a Status if the type is ERROR.
JSON: Any JSON value.
JSONSchemaPropsOrArray: A schema, or several.
JSONSchemaPropsOrBool: A schema, or whether anything is allowed at all.
JSONSchemaPropsOrStringArray: A schema, or names of properties.
`
