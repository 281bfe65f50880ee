/**
 * The step that records which manager owns which fields. This step runs before mutating admission,
 * so fields that admission changes have no owner.
 */
import type { MaybePromise } from '../../../lib/concurrency/maybe-promise.ts'
import { Differences, type Versions } from '../../../objects/apply/differences.ts'
import { type Owners, printOwners, readOwners } from '../../../objects/apply/managers.ts'
import type { MergeType } from '../../../objects/apply/merge-type.ts'
import { mergeTypeOfObjects } from '../../../objects/apply/object-merge-type.ts'
import { childOf } from '../../../objects/apply/owned.ts'
import { recordUpdate } from '../../../objects/apply/record.ts'
import {
  hasSetsOfAny,
  mayOmitKeys,
  validateApplied,
  validateTyped,
} from '../../../objects/apply/validate.ts'
import { isEqual } from '../../../objects/apply/value.ts'
import { givenWire, storedWire } from '../../../objects/apply/wire.ts'
import {
  isFields,
  type Json,
  type KubeObject,
  omit,
  withManagedFields,
} from '../../../api/object.ts'
import { apiVersionOf, shownAt } from '../../../registry/resource.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import type { Current } from '../../../storage/store.ts'
import { askWebhook, UnknownVersionError, versionsOf } from '../owner-versions.ts'
import {
  emptyWire,
  hasOtherVersion,
  ignoredAt,
  type Tracking,
  trackingOf,
  writerOf,
} from '../owners.ts'
import type { Write } from './write.ts'

type Recording = Pick<Write, 'options' | 'access'>

/** Records the owners of the fields. `given` is the object or subresource in the path. */
export function recordOwners(
  write: Write,
  given: KubeObject,
  current: Current<KubeObject> | undefined,
): MaybePromise<KubeObject> {
  const { request, owners } = write
  if (owners === 'stated') return given
  if (owners === 'dropped') return withManagedFields(given, undefined)
  if (current !== undefined) {
    const updated = ownersAfterUpdate(request, { stored: current.object, after: given }, write)
    return updated.then((managedFields) => withManagedFields(given, managedFields))
  }
  const { context } = request
  const record = (): KubeObject =>
    withManagedFields(given, ownersAfterCreate(request, given, write))
  return context.isLarge ? context.inParts(record) : record()
}

/**
 * Returns the managedFields of a new object, or undefined if it has none. Entries that the client
 * sent remain, except for fields that the writer takes over.
 */
export function ownersAfterCreate(
  request: ResourceRequest,
  object: KubeObject,
  { options, access }: Recording,
): Json | undefined {
  if (isUnfit(request, object)) return undefined
  const given = givenOwners(request, object) ?? new Map()
  const { struct } = request.resource.shape
  const ignored = ignoredAt(request)
  const before = emptyWire(struct)
  const writer = writerOf(request, options)
  const type = mergeTypeOfObjects(struct)
  const versions = { type, before, after: givenWire(object, struct) }
  if (mayBeUntyped(request, type) && !isTyped(versions)) return undefined
  const differences = new Differences(versions, ignored)
  return printOwners(recordUpdate(given, { writer, now: access.now(), differences }))
}

/**
 * Returns the managedFields after an update or a patch. `after` is the object or subresource in the
 * path.
 */
async function ownersAfterUpdate(
  request: ResourceRequest,
  { stored, after }: { readonly stored: KubeObject; readonly after: KubeObject },
  { options, access }: Recording,
): Promise<Json | undefined> {
  const { context } = request
  const begin = (): OwnersRecording | undefined => beginUpdate(request, stored, after)
  const begun = context.isLarge ? await context.inParts(begin) : begin()
  if (begun === undefined) return undefined
  const { tracking, owners } = begun
  // An update does not add managedFields to an object without them. Only the first apply adds them.
  if (owners.size === 0) return tracking.finish(owners)
  const before = shownAt(request, stored)
  const objects = { before: () => before, after: () => after }
  try {
    const asking = askWebhook(request, access.versions, { owners, objects })
    const asked = asking instanceof Promise ? await asking : asking
    const record = (): Json | undefined => {
      const { shape } = request.view ?? request.resource
      const mustBeLookedOver = mayBeUntyped(request, mergeTypeOfObjects(shape.struct))
      const versions = versionsOf(request, access.versions, {
        ...objects,
        asked,
        isChangeOnly: !mustBeLookedOver,
      })
      if (mustBeLookedOver) {
        const own = versions(writerOf(request, options).apiVersion)
        if (own !== undefined && !isTyped(own)) return undefined
      }
      const differences = new Differences(versions, ignoredAt(request))
      const update = { writer: writerOf(request, options), now: access.now(), differences }
      return tracking.finish(recordUpdate(owners, update))
    }
    return context.isLarge ? await context.inParts(record) : record()
  } catch (error) {
    // If kube-apiserver cannot convert the object to the version of an entry, it removes all
    // managedFields.
    if (error instanceof UnknownVersionError) return undefined
    throw error
  }
}

type OwnersRecording = { readonly tracking: Tracking; readonly owners: Owners }

/** Returns the owners before an update, or undefined if the object gets no managedFields. */
function beginUpdate(
  request: ResourceRequest,
  stored: KubeObject,
  after: KubeObject,
): OwnersRecording | undefined {
  if (isUnfit(request, after)) return undefined
  const tracking = trackingOf(request, stored)
  const isKept = isEqual(after.metadata['managedFields'], stored.metadata['managedFields'])
  const owners = (isKept ? undefined : givenOwners(request, after)) ?? tracking.owners
  if (owners.size === 0 || request.view !== undefined) return { tracking, owners }
  const isMisfit = [shownAt(request, stored), after].some((one) =>
    isUnfitElsewhere(request, one, owners),
  )
  return isMisfit ? undefined : { tracking, owners }
}

/**
 * Whether fields that the path does not write violate the schema. Such fields are never validated,
 * but kube-apiserver converts them to a typed object together with all other fields. If this
 * conversion fails, the object gets no managedFields.
 */
function isUnfit(request: ResourceRequest, object: KubeObject): boolean {
  const { resource, subresource } = request
  if (!resource.isCustom || request.view !== undefined) return false
  const type = mergeTypeOfObjects(resource.shape.struct)
  const names =
    subresource === 'status'
      ? Object.keys(omit(object, ...ofAllPaths))
      : resource.rules.resetPaths(subresource)
  return names.some((name) => {
    const value = object[name]
    return value !== undefined && validateTyped(value, childOf(name, type).below).length > 0
  })
}

const ofAllPaths = ['apiVersion', 'kind', 'metadata', 'status'] as const

/**
 * Whether the object violates the schema of one of the versions that its managers use.
 * kube-apiserver compares typed objects in each of these versions. An object that was written or
 * stored in another version might not match the schema of the request's version. A converted object
 * must not repeat an item of a set or a map.
 */
function isUnfitElsewhere(
  { resource }: ResourceRequest,
  object: KubeObject,
  owners: Owners,
): boolean {
  if (!resource.isCustom) return false
  const { struct, stored } = resource.shape
  const isConverted = hasOtherVersion(owners, apiVersionOf(resource))
  if (!isConverted && stored === undefined) return false
  const validate = isConverted ? validateApplied : validateTyped
  return validate(storedWire(object, struct), mergeTypeOfObjects(struct)).length > 0
}

/** Whether objects of a type can contain list items that cannot be distinguished. */
const mayBeUntyped = ({ resource }: ResourceRequest, type: MergeType): boolean =>
  resource.isCustom ? hasSetsOfAny(type) : mayOmitKeys(type)

/**
 * Whether the items of all lists can be distinguished. Otherwise, kube-apiserver removes
 * managedFields.
 */
const isTyped = ({ type, before, after }: Versions): boolean =>
  [before, after].every((wire) => validateTyped(wire, type).length === 0)

/**
 * Returns the owners in the body of an update, which can replace all managedFields. Returns
 * undefined if the body contains no list of owners, or a list that cannot be decoded.
 */
function givenOwners({ subresource }: ResourceRequest, after: KubeObject): Owners | undefined {
  const given = after.metadata['managedFields']
  if (subresource !== '' || given === undefined) return undefined
  if (isReset(given)) return new Map()
  const owners = readOwners(given)
  if (owners === undefined || owners.size === 0) return undefined
  return new Map([...owners].map(([identity, owner]) => [identity, { ...owner, entry: undefined }]))
}

/**
 * Whether the managedFields in an update are empty or contain only an empty entry. Such an update
 * removes all owners.
 */
const isReset = (given: Json): boolean =>
  Array.isArray(given) &&
  (given.length === 0 ||
    (given.length === 1 && isFields(given[0]) && Object.keys(given[0]).length === 0))
