/**
 * The steps of a write between decoding and storing. They are the same for all verbs that write,
 * and have kube-apiserver's order: record owners, mutate (admission), check escalation (RBAC),
 * prepare, allocate, validate, authorize, admit (admission). Each step is a file in this folder or
 * a single call.
 *
 * `current` is the stored object, or undefined if the object is new. Each step takes a long time
 * for an object of several megabytes. After a long step, the event loop can serve other requests.
 *
 * create-object.ts and update-object.ts run the steps and store the result. If another writer
 * changes the object first, an update runs all steps again.
 */
import { attributesOf } from '../admission-attributes.ts'
import { CREATES_FORBIDDEN_SINCE, crdTerminating } from '../../../api/errors.ts'
import { itemsOf, type Json, type KubeObject, withManagedFields } from '../../../api/object.ts'
import { printOwners, readOwners } from '../../../objects/apply/managers.ts'
import { shownAt } from '../../../registry/resource.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import type { Current } from '../../../storage/store.ts'
import { inNamespace } from '../identity.ts'
import { trackingOf } from '../owners.ts'
import { allocate } from './allocate.ts'
import { prepare } from './prepare.ts'
import { recordOwners } from './record-owners.ts'
import { validate } from './validate.ts'
import type { Write } from './write.ts'
import { withVersion } from './written.ts'

type CurrentObject = Current<KubeObject> | undefined

/**
 * Records the owners of the given object, and returns the object as changed by mutating admission.
 * Both objects are the object or subresource in the path.
 */
export async function mutate(
  write: Write,
  given: KubeObject,
  current: CurrentObject,
): Promise<KubeObject> {
  const { request, options, access } = write
  if (current === undefined) refuseWithoutDefinition(request, given.metadata.name)
  request.context.enter('record owners')
  const recording = recordOwners(write, given, current)
  // Do not await a value that is not a promise, because this would take as long as a short step.
  const object = recording instanceof Promise ? await recording : recording
  const operation = current === undefined ? 'CREATE' : 'UPDATE'
  const { shown, oldObject } = shownToMutators(write, object, current?.object)
  const attributes = attributesOf(request, { operation, options, object: shown, oldObject })
  request.context.enter('mutate')
  const admitting = access.admission.mutate(attributes)
  const admitted = (admitting instanceof Promise ? await admitting : admitting) ?? shown
  const mutated =
    admitted === shown ? object : afterAdmission(request, { before: object, after: admitted })
  const { confirmGrant } = access.permissions
  if (confirmGrant !== undefined) await confirmGrant(request, mutated, current?.object)
  return mutated
}

/** Forbids creates of custom resources while their definition is being deleted. */
function refuseWithoutDefinition(
  { resource, subresource }: ResourceRequest,
  name: string | undefined,
): void {
  const { definition, release, verbs } = resource
  if (definition === undefined || subresource !== '' || verbs.includes('create')) return
  if (release >= CREATES_FORBIDDEN_SINCE) throw crdTerminating(resource, name)
}

type ConvertedObjects = { readonly shown: KubeObject; readonly oldObject: KubeObject | undefined }

/**
 * Returns the objects that mutating plugins receive. For a subresource such as Scale, these objects
 * contain the owners of the fields of the subresource. New owners have a timestamp in these
 * objects, which is not stored.
 */
function shownToMutators(
  { request, access }: Write,
  object: KubeObject,
  stored: KubeObject | undefined,
): ConvertedObjects {
  const oldObject = stored && shownAt(request, stored)
  if (request.view === undefined || oldObject === undefined) return { shown: object, oldObject }
  const before = trackingOf(request, stored).owners
  const after = [...trackingOf(request, object).owners].map(
    ([identity, owner]) =>
      [identity, before.has(identity) ? owner : { ...owner, time: access.now() }] as const,
  )
  return {
    shown: withManagedFields(object, printOwners(new Map(after))),
    oldObject: withManagedFields(oldObject, printOwners(before)),
  }
}

/**
 * Returns the object as changed by mutating admission. A webhook can change any field except the
 * namespace. If the managedFields that it returns cannot be decoded, they are ignored.
 */
function afterAdmission(
  request: ResourceRequest,
  { before, after }: { readonly before: KubeObject; readonly after: KubeObject },
): KubeObject {
  const object = inNamespace(after, request)
  if (request.view !== undefined) return withManagedFields(object, before.metadata['managedFields'])
  const { managedFields } = object.metadata
  if (managedFields === before.metadata['managedFields'] || readOwners(managedFields) !== undefined)
    return object
  request.context.warn(invalidOwners(managedFields))
  return withManagedFields(object, before.metadata['managedFields'])
}

function invalidOwners(managedFields: Json | undefined): string {
  const isOfNoOperation = itemsOf(managedFields).some(
    ({ operation }) => operation !== 'Apply' && operation !== 'Update',
  )
  const why = isOfNoOperation
    ? 'operation must be `Apply` or `Update`'
    : 'an entry cannot be decoded'
  return `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${why}`
}

/** Returns the object to store. These steps run again for each generated name. */
export async function complete(
  write: Write,
  mutated: KubeObject,
  current: CurrentObject,
): Promise<KubeObject> {
  const { request, options, access } = write
  const { context } = request
  context.enter('prepare')
  const prepared = context.isLarge
    ? await context.inParts(() => prepare(write, mutated, current))
    : prepare(write, mutated, current)
  const object =
    write.allocation === undefined ? prepared : await allocate(write, prepared, current)
  context.enter('validate')
  await validate(write, object, current)
  // Authorize before the plugins that count objects run. Otherwise, an object that the user is not
  // allowed to create would be charged to a quota.
  if (current === undefined && request.verb !== 'create')
    await access.permissions.authorizeCreate(request)
  const shown = current === undefined ? object : shownAt(request, versioned(object, current))
  const oldObject = current && shownAt(request, current.object)
  const operation = current === undefined ? 'CREATE' : 'UPDATE'
  context.enter('admit')
  const attributes = attributesOf(request, { operation, options, object: shown, oldObject })
  const admitting = access.admission.validate(attributes)
  if (admitting instanceof Promise) await admitting
  context.enter('store')
  return object
}

/**
 * Adds the resourceVersion on which an update is based, for validating plugins. Used if the client
 * sent no resourceVersion.
 */
const versioned = (object: KubeObject, { revision }: Current<KubeObject>): KubeObject =>
  (object.metadata.resourceVersion ?? '') === '' ? withVersion(object, revision) : object
