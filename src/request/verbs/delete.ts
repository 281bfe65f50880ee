import type { Admission } from '../../admission/admission.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { attributesOf } from './admission-attributes.ts'
import {
  type ApiError,
  conflict,
  forbidden,
  notFound,
  type ResourceName,
  type Status,
} from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ApiResponse } from '../../api/request.ts'
import { negotiate } from '../../objects/codec/negotiate.ts'
import { encodeStored } from '../../objects/codec/object.ts'
import { inParts } from '../../lib/scheduling/parts.ts'
import type { Resource } from '../../registry/resource.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { Key, Revision } from '../../storage/engine.ts'
import type { Current, Decision } from '../../storage/store.ts'
import type { WriteAccess } from './access.ts'
import { answer, answerStatus, printed } from './answer.ts'
import { type Deletion, decideDeletion, isMarked } from '../../registry/deletion.ts'
import { type DeleteOptions, readDeleteOptions } from './delete-options.ts'
import { deleteUnreadable } from './delete-unreadable.ts'
import { represent } from './represent/represent.ts'
import type { WrittenObject } from './represent/representation.ts'
import { translated } from './storage-errors.ts'
import { commit } from './write/commit.ts'
import { shownLarge, withVersion, written } from './write/written.ts'

/** Removes an object, or marks it for deletion if it has finalizers or a grace period. */
export async function deleteOne(
  request: ResourceRequest,
  access: WriteAccess,
): Promise<ApiResponse> {
  const { resource, http } = request
  const form = negotiate(http, resource)
  const options = await readDeleteOptions(request, access)
  if (options.isUnsafe)
    request.context.annotate('apiserver.k8s.io/unsafe-delete-ignore-read-error', '')
  // Some objects must not be deleted individually, although kube-apiserver allows a
  // deletecollection to delete them. Therefore, this check is not part of `deleteObject`.
  const why = resource.deletion.deleteForbiddenReason(request.name)
  if (why !== undefined) throw forbidden(resource, request.name, why)
  if (options.isUnsafe) return answerStatus(await deleteUnreadable(request, access), form)
  warnOfDeletion(request, options)
  const { isRemoved, object } = await deleteObject(request, options, access)
  if (isRemoved && !resource.deletion.returnsDeleted)
    return answerStatus(deleted(request, object), form)
  // Status 202 means that the object has not been removed yet. kube-apiserver sends it only with
  // the deprecated option orphanDependents.
  const status = !isRemoved && options.orphanDependents === false ? 202 : 200
  const show = represent(form, access.forms, request)
  const shown = await shownLarge(request, object)
  return answer(
    status,
    show,
    printed(request.context, () => show.written(shown, resource.shape)),
  )
}

export function warnOfDeletion(
  { resource, context }: ResourceRequest,
  options: DeleteOptions,
): void {
  const warning = resource.deletion.deletionWarning?.(options)
  if (warning !== undefined) context.warn(warning)
}

export type DeletedObject = { readonly isRemoved: boolean; readonly object: KubeObject }

type DeleteObjectOptions = {
  /** Whether the request has already been admitted as an eviction, so that admission is skipped. */
  readonly isAdmitted?: boolean
  /**
   * Revision at which the object was created. Another object with the same name counts as not
   * found.
   */
  readonly createRevision?: Revision
}

/**
 * Deletes an object, or marks it for deletion. Fails with NotFound, Conflict, or an error from
 * admission.
 */
export async function deleteObject(
  request: ResourceRequest,
  options: DeleteOptions,
  access: WriteAccess,
  { isAdmitted = false, createRevision }: DeleteObjectOptions = {},
): Promise<DeletedObject> {
  const { resource, namespace, name } = request
  const key = access.keys.key(namespace, name)
  const corruptKey = access.corruptKey?.(key)
  return translated(request.context, { resource, name, verb: 'delete', corruptKey }, async () => {
    let deletion: Deletion = { step: 'keep' }
    let decision: Decision = 'unchanged'
    const result = await commit(
      request,
      { key, access, isDryRun: options.isDryRun },
      async (current) => {
        const isFound = createRevision === undefined || current?.createRevision === createRevision
        if (current === undefined || !isFound) throw notFound(resource, name)
        deletion = await decide(request, options, { current, access, isAdmitted })
        decision = await decisionOf(deletion, current.object, request)
        return decision
      },
    )
    const end = await finish(request, { deletion, decision, key, result, options, access })
    if (end.isRemoved && !options.isDryRun)
      await access.effects.allocator?.release(end.object, namespace)
    return end
  })
}

type Finish = {
  readonly deletion: Deletion
  readonly decision: Decision
  readonly key: Key
  readonly result: Awaited<ReturnType<typeof commit>>
  readonly options: DeleteOptions
  readonly access: WriteAccess
}

async function finish(
  request: ResourceRequest,
  { deletion, decision, key, result, options, access }: Finish,
): Promise<DeletedObject> {
  const { resource, name, context } = request
  const before = result.previous?.object
  if (before === undefined) throw notFound(resource, name)
  if (deletion.step === 'remove')
    return { isRemoved: true, object: withVersion(before, result.revision) }
  if (deletion.step === 'keep') return { isRemoved: false, object: before }
  const { revision } = result
  const marked = withVersion(deletion.object, revision)
  if (!options.isDryRun && result.outcome === 'put') {
    const note = (): WrittenObject => written(marked, key, revision, { resource, access })
    // The object is already stored, so this must not fail if the client disconnects.
    if (context.isLarge) await inParts(note, context.slices)
    else note()
  }
  if (deletion.step === 'mark') {
    // If a webhook converts the resource, the response contains the object that a read of the
    // stored bytes would return.
    const back =
      typeof decision === 'object' ? await access.storage.readBack?.(decision.put) : undefined
    return { isRemoved: false, object: back === undefined ? marked : withVersion(back, revision) }
  }
  if (options.isDryRun) return { isRemoved: true, object: marked }
  return { isRemoved: true, object: await removeMarked(request, marked, { key, access }) }
}

/**
 * Removes an object that an earlier write has marked for deletion. If another writer removes the
 * object first, this is not an error.
 */
async function removeMarked(
  request: ResourceRequest,
  marked: KubeObject,
  { key, access }: { readonly key: Key; readonly access: WriteAccess },
): Promise<KubeObject> {
  let last = marked
  const result = await commit(
    request,
    { key, access, isDryRun: false, isFresh: true },
    async (current) => {
      if (current === undefined || current.object.metadata.uid !== marked.metadata.uid)
        return 'unchanged'
      last = current.object
      return 'delete'
    },
  )
  return result.outcome === 'deleted' ? withVersion(last, result.revision) : marked
}

type DeleteDecisionInput = {
  readonly current: Current<KubeObject>
  readonly access: WriteAccess
  readonly isAdmitted: boolean
}

async function decide(
  request: ResourceRequest,
  options: DeleteOptions,
  { current, access, isAdmitted }: DeleteDecisionInput,
): Promise<Deletion> {
  const { resource } = request
  const { ownDeletion } = resource.deletion
  const { object } = current
  const found = { uid: object.metadata.uid ?? '', resourceVersion: `${current.revision}` }
  if (ownDeletion === undefined) {
    checkPreconditions(
      { group: storedGroup(resource), plural: resource.kind },
      request.name,
      options,
      found,
    )
  } else {
    checkOwnPreconditions(request, options, found)
    if (isMarked(object) && ownDeletion.isHeld?.(object) === true) return { step: 'keep' }
  }
  if (!isAdmitted) await admitDelete(request, object, options, access.admission)
  if (ownDeletion !== undefined && !isMarked(object))
    return { step: 'mark', object: ownDeletion.mark(object, options, access.now()) }
  const kind = access.deletion.collectsGarbage
    ? resource.deletion
    : { ...resource.deletion, isGarbageCollected: false }
  return decideDeletion(object, kind, options, access.now())
}

async function admitDelete(
  request: ResourceRequest,
  oldObject: KubeObject,
  options: DeleteOptions,
  admission: Admission,
): Promise<void> {
  // Admission receives the grace period that the pod will actually get, instead of the requested
  // one.
  const gracePeriodSeconds = request.resource.deletion.graceOf?.(
    oldObject,
    options.gracePeriodSeconds,
  )
  const shown = gracePeriodSeconds === undefined ? options : { ...options, gracePeriodSeconds }
  const attributes = attributesOf(request, { operation: 'DELETE', oldObject, options: shown })
  await admission.mutate(attributes)
  await admission.validate(attributes)
}

async function decisionOf(
  deletion: Deletion,
  before: KubeObject,
  { resource, context }: ResourceRequest,
): Promise<Decision> {
  const encode = (object: KubeObject): MaybePromise<Buffer> =>
    context.isLarge
      ? context.inParts(() => encodeStored(object, resource.shape))
      : encodeStored(object, resource.shape)
  switch (deletion.step) {
    case 'remove':
      return 'delete'
    case 'keep':
      return 'unchanged'
    case 'mark':
    case 'mark-and-remove': {
      const put = await encode(deletion.object)
      return put.equals(await encode(before)) ? 'unchanged' : { put }
    }
  }
}

/**
 * Returns the group in which a resource is stored. Events are served in two groups, but stored in
 * the older one.
 */
const storedGroup = ({ group, versions }: Resource): string =>
  versions.storageVersion?.includes('/') === false ? '' : group

type ObjectVersion = { readonly uid: string; readonly resourceVersion: string }

/**
 * Fails with Conflict if a precondition does not hold. Unlike other errors, this error contains the
 * kind instead of the resource.
 */
export function checkPreconditions(
  kind: ResourceName,
  name: string,
  wanted: DeleteOptions,
  found: ObjectVersion,
): void {
  if (wanted.uid !== undefined && wanted.uid !== found.uid) {
    const why = `the UID in the precondition (${wanted.uid}) does not match the UID in record (${found.uid}). The object might have been deleted and then recreated`
    throw conflict(kind, name, why)
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== found.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${found.resourceVersion}). The object might have been modified`
    throw conflict(kind, name, why)
  }
}

/** Like `checkPreconditions`, for kinds with their own deletion rules, whose messages differ. */
function checkOwnPreconditions(
  { resource, name }: ResourceRequest,
  wanted: DeleteOptions,
  found: ObjectVersion,
): void {
  const refuse = (what: string, asked: string, has: string): ApiError =>
    conflict(
      resource,
      name,
      `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${has}`,
    )
  if (wanted.uid !== undefined && wanted.uid !== found.uid)
    throw refuse('UID', wanted.uid, found.uid)
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== found.resourceVersion) {
    throw refuse('ResourceVersion', wanted.resourceVersion, found.resourceVersion)
  }
}

/** Returns the Status for a removed object. Unlike all other Statuses, it has no code. */
function deleted({ resource, name }: ResourceRequest, object: KubeObject): Status {
  const { uid = '' } = object.metadata
  const group = resource.group === '' ? {} : { group: resource.group }
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...group, kind: resource.plural, uid },
  }
}
