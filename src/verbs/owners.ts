/**
 * Who owns which fields after a write: what verbs know of a request, told to apply/. Owners are recorded before admission sees the
 * object: what that changes belongs to nobody.
 */
import { fieldSetOf } from '../apply/field-paths.ts'
import { Differences, type Versions } from '../apply/differences.ts'
import type { FieldSet } from '../apply/field-set.ts'
import { type Owners, printOwners, readOwners, type Writer } from '../apply/managers.ts'
import { mergeTypeOfObjects } from '../apply/object-merge-type.ts'
import type { StructMerge } from '../apply/merge-type.ts'
import { recordUpdate } from '../apply/record.ts'
import { validateApplied } from '../apply/validate.ts'
import { ownersInObject, ownersInView } from '../apply/view-owners.ts'
import { isEqual } from '../apply/value.ts'
import { givenWire, storedWire } from '../apply/wire.ts'
import { type Fields, isFields, type Json, type KubeObject } from '../api/object.ts'
import { managerOfAgent } from '../api/manager-name.ts'
import { firstHeader } from '../api/request.ts'
import { apiVersionOf, type Resource, type ResourceRequest, shownAt, viewOf } from '../registry/resource.ts'
import { isCode } from '../storage/errors.ts'
import type { ObjectSchema } from '../schema/object-schema.ts'
import type { Struct } from '../schema/schema.ts'
import type { WriteAccess } from './access.ts'
import type { WriteOptions } from './write-options.ts'

export type Recording = { readonly options: WriteOptions; readonly access: WriteAccess }

export type Owning = {
  /** `stated`: the change itself says who owns what, as that of an apply does. `dropped`: there is no room for them. */
  readonly owners?: 'recorded' | 'stated' | 'dropped'
}

export function owned(given: KubeObject, { owners }: Owning, record: () => Json | undefined): KubeObject {
  if (owners === 'stated') return given
  return withOwners(given, owners === 'dropped' ? undefined : record())
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
  const differences = new Differences(() => versions, ignoredAt(request))
  const update = { writer: writerOf(request, recording.options), now: recording.access.now(), differences }
  return printOwners(recordUpdate(givenOwners(request, object) ?? new Map(), update))
}

/** The list after an update or a patch; `after` is in the shape of the path. */
export function ownersAfterUpdate(
  request: ResourceRequest,
  { stored, after }: { readonly stored: KubeObject; readonly after: KubeObject },
  { options, access }: Recording,
): Json | undefined {
  const tracking = trackingOf(request, stored)
  const isKept = isEqual(after.metadata['managedFields'], stored.metadata['managedFields'])
  const owners = (isKept ? undefined : givenOwners(request, after)) ?? tracking.owners
  // What was never tracked begins to be with the first apply.
  if (owners.size === 0) return tracking.finish(owners)
  const before = shownAt(request, stored)
  const versions = versionsOf(request, access, { before: () => before, after: () => after })
  const differences = new Differences(versions, ignoredAt(request))
  try {
    return tracking.finish(recordUpdate(owners, { writer: writerOf(request, options), now: access.now(), differences }))
  } catch (error) {
    // Upstream would rather have no owners than wrong ones.
    if (error instanceof UnknownVersionError) return undefined
    throw error
  }
}

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

/** An object before and after a write, in the versions in which its owners know it. */
export function versionsOf(
  request: ResourceRequest,
  { inVersion }: Pick<WriteAccess, 'inVersion'>,
  { before, after }: { readonly before: () => KubeObject; readonly after: () => KubeObject },
): (apiVersion: string) => Versions | undefined {
  const own = viewOf(request) ?? request.resource
  return (apiVersion) => {
    if (apiVersion === apiVersionOf(own)) {
      const { struct } = own.shape
      return {
        type: mergeTypeOfObjects(struct),
        before: storedWire(before(), struct),
        after: givenWire(after(), struct),
      }
    }
    const other = otherVersion(request, inVersion, apiVersion)
    return other && { type: other.type, before: other.before(before()), after: other.after(after()) }
  }
}

type OtherVersion = {
  readonly type: StructMerge
  /** Objects as they were and as they are to be, in this version. */
  readonly before: (object: KubeObject) => Fields
  readonly after: (object: KubeObject) => Fields
}

/** Undefined where a built-in kind has no such version. Of custom kinds nothing is dropped, but what cannot be converted is refused. */
export function otherVersion(
  request: ResourceRequest,
  inVersion: WriteAccess['inVersion'],
  apiVersion: string,
): OtherVersion | undefined {
  const { resource } = request
  if (viewOf(request) !== undefined) return undefined
  const other = inVersion(apiVersion)
  if (other === undefined) {
    if (!resource.isCustom) return undefined
    throw new UnknownVersionError(`request to convert CR to an invalid group/version: ${apiVersion}`)
  }
  const { struct } = other.shape
  const type = mergeTypeOfObjects(struct)
  if (!resource.isCustom) {
    const convert = (object: KubeObject): KubeObject => converted(object, resource.shape, other)
    const before = (object: KubeObject): Fields => storedWire(convert(object), struct)
    return { type, before, after: (object) => givenWire(convert(object), struct) }
  }
  const fitting = (object: KubeObject, what: string): Fields => {
    const wire = storedWire({ ...object, apiVersion }, struct)
    // What a webhook makes of an object is not asked here, so what is taken for it may not fit.
    const [fault] = resource.converted === undefined && other.converted === undefined ? validateApplied(wire, type) : []
    if (fault !== undefined) throw new UnknownVersionError(what + fault)
    return wire
  }
  return {
    type,
    before: (object) => fitting(object, ''),
    after: (object) => fitting(object, 'failed to convert new object: '),
  }
}

/** An object cannot be shown in the version of one of its owners. The message is upstream's. */
export class UnknownVersionError extends Error {
  override readonly name = 'UnknownVersionError'
}

function converted(object: KubeObject, from: ObjectSchema, to: Resource): KubeObject {
  const stored = from.stored?.toStored(object) ?? object
  return to.shape.stored?.fromStored(stored) ?? { ...stored, apiVersion: apiVersionOf(to) }
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
