/**
 * The step that sets the fields owned by the server, and the fields that the strategy of the kind
 * sets or resets.
 */
import {
  conflict,
  invalid,
  modifiedMeanwhile,
  refuseInvalid,
  unclassified,
} from '../../../api/errors.ts'
import { invalidShown } from '../../../api/field-fault.ts'
import {
  type KubeObject,
  omit,
  type ObjectMeta,
  present,
  withManagedFields,
} from '../../../api/object.ts'
import { faultsOfRelease } from '../../../registry/release-faults.ts'
import { type Resource, rulesOf, type Writer } from '../../../registry/resource.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import type { Revision } from '../../../storage/engine.ts'
import type { Current } from '../../../storage/store.ts'
import type { Ids } from '../../../api/ids.ts'
import { isMarked } from '../../../registry/deletion.ts'
import { uintFault } from '../options.ts'
import { withoutDuplicateOwners } from './owner-references.ts'
import type { Write } from './write.ts'

/**
 * Maximum length of the prefix of a generated name. With this prefix and its random suffix, the
 * name fits in a label value.
 */
const NAME_PREFIX_CHARACTERS_MAX = 58

/**
 * Prepares an object for validation. `mutated` is the object or subresource in the path, and the
 * result is the whole object.
 */
export const prepare = (
  write: Write,
  mutated: KubeObject,
  current: Current<KubeObject> | undefined,
): KubeObject =>
  current === undefined ? prepareNew(write, mutated) : prepareUpdate(write, mutated, current)

function prepareNew(write: Write, given: KubeObject): KubeObject {
  const { request, access } = write
  const { resource } = request
  const { generateName = '', name = '' } = given.metadata
  const fault = request.verb === 'create' ? undefined : versionFault(given)
  if (fault !== undefined) throw unclassified(fault)
  const writer = writerOf(write)
  const metadata: ObjectMeta = {
    ...withoutServerFields(given.metadata),
    name:
      name === '' && generateName !== '' ? generatedName(generateName, resource, access.ids) : name,
    uid: access.ids.uid(),
    creationTimestamp: access.now(),
  }
  return resource.rules.prepareCreate({ ...given, metadata }, writer)
}

const generatedName = (prefix: string, { rules }: Resource, ids: Ids): string =>
  rules.metadata.usesGenerateNameVerbatim === true
    ? prefix
    : `${prefix.slice(0, NAME_PREFIX_CHARACTERS_MAX)}${ids.nameSuffix()}`

const writerOf = ({ request: { user, context }, access: { now, ids } }: Write): Writer => ({
  user,
  now,
  newId: ids.uid,
  warn: (text) => context.warn(text),
})

function prepareUpdate(
  write: Write,
  mutated: KubeObject,
  { object: before, revision }: Current<KubeObject>,
): KubeObject {
  const { request } = write
  const view = request.view
  const shown = withoutDuplicateOwners(mutated, request.context, { isMutated: true })
  if (view !== undefined) refuseInvalid(view, shown, view.validate(shown))
  const given = view === undefined ? shown : view.change(before, shown)
  if (view !== undefined) checkShownUid(request, shown, before)
  checkVersion(request, given, { revision, isView: view !== undefined })
  const metadata = present({ ...given.metadata, generation: before.metadata.generation })
  const prepared = rulesOf(request).prepareUpdate({ ...given, metadata }, before, writerOf(write))
  return withManagedFields(keepSystemFields(prepared, before), shown.metadata['managedFields'])
}

/**
 * Fails with Conflict if the uid in a subresource such as Scale differs from the uid of the object.
 * In such a subresource, the uid is a precondition.
 */
function checkShownUid(
  { resource, subresource, name }: ResourceRequest,
  shown: KubeObject,
  before: KubeObject,
): void {
  const { uid = '' } = shown.metadata
  const { uid: found = '' } = before.metadata
  if (uid === '' || uid === found) return
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`
  throw conflict({ group: resource.group, plural: `${resource.plural}/${subresource}` }, name, why)
}

function versionFault({ metadata: { resourceVersion = '' } }: KubeObject): string | undefined {
  return resourceVersion === '' ? undefined : uintFault(resourceVersion)
}

/**
 * Checks the resourceVersion of an update. A subresource such as Scale does not need a
 * resourceVersion.
 */
function checkVersion(
  { resource, name }: ResourceRequest,
  given: KubeObject,
  { revision, isView }: { readonly revision: Revision; readonly isView: boolean },
): void {
  const { resourceVersion = '' } = given.metadata
  const fault = versionFault(given)
  if (fault !== undefined) throw unclassified(fault)
  if (resourceVersion === '' || BigInt(resourceVersion) === 0n) {
    if (resource.rules.allowsUnconditionalUpdate || isView) return
    const why = 'must be specified for an update'
    const missing = invalidShown('metadata.resourceVersion', '0x0', why, { json: 0 })
    const faults = faultsOfRelease([missing], resource.release)
    throw invalid({ group: resource.group, kind: resource.plural }, name, faults)
  }
  if (BigInt(resourceVersion) !== BigInt(revision))
    throw conflict(resource, name, modifiedMeanwhile)
}

/**
 * Restores the fields that an update cannot change. If the object is not being deleted, a
 * deletionTimestamp in the request is kept, so that validation rejects it.
 */
function keepSystemFields(object: KubeObject, before: KubeObject): KubeObject {
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = before.metadata
  const own = withoutServerFields(object.metadata)
  // `uid` and `deletionGracePeriodSeconds` replace only absent values. A changed value remains, so
  // that validation rejects it.
  const metadata = isMarked(before)
    ? { uid, deletionGracePeriodSeconds, ...own, creationTimestamp, deletionTimestamp }
    : { uid, ...own, creationTimestamp }
  return { ...object, metadata: present(metadata) }
}

/** Removes selfLink, which is ignored. */
const withoutServerFields = (metadata: ObjectMeta): ObjectMeta =>
  'selfLink' in metadata ? omit(metadata, 'selfLink') : metadata
