/**
 * Who owns which fields after a write: what verbs know of a request, told to apply/. Owners are recorded before admission sees the
 * object: what that changes belongs to nobody.
 */
import { fieldSetOf } from '../apply/field-paths.ts'
import { Differences, type Versions } from '../apply/differences.ts'
import type { FieldSet } from '../apply/field-set.ts'
import { type Owners, printOwners, readOwners, type Writer } from '../apply/managers.ts'
import { mergeTypeOfObjects } from '../apply/object-merge-type.ts'
import { recordUpdate } from '../apply/record.ts'
import { ownersInObject, ownersInView } from '../apply/view-owners.ts'
import { childOf } from '../apply/owned.ts'
import { validateApplied, validateStored } from '../apply/validate.ts'
import { isEqual } from '../apply/value.ts'
import { givenWire, storedWire } from '../apply/wire.ts'
import { type Fields, isFields, type Json, type KubeObject } from '../api/object.ts'
import { managerOfAgent } from '../api/manager-name.ts'
import { firstHeader } from '../api/request.ts'
import { apiVersionOf, type Resource, type ResourceRequest, shownAt, viewOf } from '../registry/resource.ts'
import { isCode } from '../storage/errors.ts'
import type { Struct } from '../schema/schema.ts'
import type { WriteAccess } from './access.ts'
import { askWebhook, UnknownVersionError, versionsOf } from './owner-versions.ts'
import type { WriteOptions } from './write-options.ts'

export type Recording = { readonly options: WriteOptions; readonly access: WriteAccess }

export type Owning = {
  /** `stated`: the change itself says who owns what, as that of an apply does. `dropped`: there is no room for them. */
  readonly owners?: 'recorded' | 'stated' | 'dropped'
}

export async function owned(
  given: KubeObject,
  { owners }: Owning,
  record: () => Json | undefined | Promise<Json | undefined>,
): Promise<KubeObject> {
  if (owners === 'stated') return given
  return withOwners(given, owners === 'dropped' ? undefined : await record())
}

/** What has no room in the database with its owners is stored without them; an apply is not. */
export async function unlessTooLarge<W extends Owning, T>(writing: W, write: (writing: W) => Promise<T>): Promise<T> {
  try {
    return await write(writing)
  } catch (error) {
    if (writing.owners === 'stated' || !isCode(error, 'too-large')) throw error
    return write({ ...writing, owners: 'dropped' })
  }
}

/** The list of a new object; undefined: none. What the client sent of it counts where the object itself does not take it. */
export function ownersAfterCreate(
  request: ResourceRequest,
  object: KubeObject,
  recording: Recording,
): Json | undefined {
  const { struct } = request.resource.shape
  const versions = { type: mergeTypeOfObjects(struct), before: emptyWire(struct), after: givenWire(object, struct) }
  if (isUnfit(request, object) || !isTyped(versions)) return undefined
  const differences = new Differences(() => versions, ignoredAt(request))
  const update = { writer: writerOf(request, recording.options), now: recording.access.now(), differences }
  return printOwners(recordUpdate(givenOwners(request, object) ?? new Map(), update))
}

/** The list after an update or a patch; `after` is in the shape of the path. */
export async function ownersAfterUpdate(
  request: ResourceRequest,
  { stored, after }: { readonly stored: KubeObject; readonly after: KubeObject },
  { options, access }: Recording,
): Promise<Json | undefined> {
  if (isUnfit(request, after)) return undefined
  const tracking = trackingOf(request, stored)
  const isKept = isEqual(after.metadata['managedFields'], stored.metadata['managedFields'])
  const owners = (isKept ? undefined : givenOwners(request, after)) ?? tracking.owners
  // What was never tracked begins to be with the first apply.
  if (owners.size === 0) return tracking.finish(owners)
  const before = shownAt(request, stored)
  const objects = { before: () => before, after: () => after }
  try {
    const asked = await askWebhook(request, access, { owners, objects })
    const versions = versionsOf(request, access, { ...objects, asked })
    const own = request.resource.isCustom ? undefined : versions(writerOf(request, options).apiVersion)
    if (own !== undefined && !isTyped(own)) return undefined
    const differences = new Differences(versions, ignoredAt(request))
    return tracking.finish(recordUpdate(owners, { writer: writerOf(request, options), now: access.now(), differences }))
  } catch (error) {
    // Upstream would rather have no owners than wrong ones.
    if (error instanceof UnknownVersionError) return undefined
    throw error
  }
}

/**
 * A status that the path does not take is never validated, but upstream makes a typed object of it with all the rest; where that fails
 * the object is left without owners.
 */
function isUnfit({ resource, subresource }: ResourceRequest, object: KubeObject): boolean {
  const { status } = object
  if (!resource.isCustom || subresource !== '' || status === undefined) return false
  if (!resource.resetPaths(subresource).includes('status')) return false
  const type = mergeTypeOfObjects(resource.shape.struct)
  if (type.form !== 'struct') return false
  return validateApplied(status, childOf('status', type).below).some((fault) => !fault.includes('duplicate entries'))
}

/** Upstream leaves an object without owners where it cannot tell the items of a list apart. */
const isTyped = ({ type, before, after }: Versions): boolean =>
  validateStored(before, type).length === 0 && validateStored(after, type).length === 0

/** An update may write the list itself, all of it or nothing; one that cannot be read does not count. */
function givenOwners({ subresource }: ResourceRequest, after: KubeObject): Owners | undefined {
  const given = after.metadata['managedFields']
  if (subresource !== '' || given === undefined) return undefined
  if (isReset(given)) return new Map()
  const owners = readOwners(given)
  if (owners === undefined || owners.size === 0) return undefined
  return new Map([...owners].map(([identity, owner]) => [identity, { ...owner, entry: undefined }]))
}

/** An empty list, or one empty entry. */
const isReset = (given: Json): boolean =>
  Array.isArray(given) &&
  (given.length === 0 || (given.length === 1 && isFields(given[0]) && Object.keys(given[0]).length === 0))

export type Tracking = {
  /** In the shape of the path. */
  readonly owners: Owners
  /** The list of the stored object, now that these are the owners. */
  readonly finish: (owners: Owners) => Json | undefined
}

/** The owners of a stored object as the path of a request shows them. */
export function trackingOf(request: ResourceRequest, stored: KubeObject | undefined): Tracking {
  const owners = readOwners(stored?.metadata['managedFields']) ?? new Map()
  const view = viewOf(request)
  if (view === undefined) return { owners, finish: printOwners }
  const inView = fieldSetOf([view.ownedPath])
  const inObject = view.objectPath === undefined ? inView : fieldSetOf([view.objectPath])
  const versions = { objectVersion: apiVersionOf(request.resource), viewVersion: apiVersionOf(view) }
  const field = { inObject, inView, ...versions }
  return {
    owners: ownersInView(owners, field),
    finish: (after) => printOwners(ownersInObject(owners, after, field)),
  }
}

/** Without a name of its own a client is known by its program. */
export function writerOf(request: ResourceRequest, { fieldManager }: WriteOptions): Writer {
  const { resource, subresource, http } = request
  const manager = fieldManager === '' ? managerOfAgent(firstHeader(http.headers, 'user-agent') ?? '') : fieldManager
  return { manager, operation: 'Update', apiVersion: apiVersionOf(viewOf(request) ?? resource), subresource }
}

/** These depend on nothing but the resource. */
const ignored = new WeakMap<Resource, Map<string, FieldSet>>()

export function ignoredAt({ resource, subresource }: Pick<ResourceRequest, 'resource' | 'subresource'>): FieldSet {
  const known = ignored.get(resource) ?? new Map<string, FieldSet>()
  ignored.set(resource, known)
  const found = known.get(subresource) ?? fieldSetOf(resource.resetPaths(subresource))
  known.set(subresource, found)
  return found
}

const emptyWires = new WeakMap<Struct, Fields>()

/** What is there before an object is: the zero values that are always written. */
export function emptyWire(struct: Struct): Fields {
  const known = emptyWires.get(struct) ?? storedWire(emptyObject, struct)
  emptyWires.set(struct, known)
  return known
}

export const emptyObject: KubeObject = { kind: '', apiVersion: '', metadata: {} }

export function withOwners(object: KubeObject, managedFields: Json | undefined): KubeObject {
  const { managedFields: given, ...metadata } = object.metadata
  if (given === managedFields) return object
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } }
}
