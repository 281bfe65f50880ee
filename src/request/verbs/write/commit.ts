/** Calls a decision function with the state of one object, and writes the result. */
import type { KubeObject } from '../../../api/object.ts'
import type { MaybePromise } from '../../../lib/concurrency/maybe-promise.ts'
import { markOutdated } from '../../../objects/codec/object.ts'
import { isProtobuf } from '../../../objects/codec/protobuf/envelope.ts'
import type { Item } from '../../../storage/cache/item.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import type { Key, Revision } from '../../../storage/engine.ts'
import type { Current, Decision, StoredValue, UpdateResult } from '../../../storage/store.ts'
import type { StorageAccess, WriteAccess } from '../access.ts'
import { holdLargeItem, holdStored, holdStoredJson } from '../hold-values.ts'

type Commit = {
  readonly key: Key
  readonly access: Pick<WriteAccess, 'reader' | 'storage'>
  readonly isDryRun: boolean
  /** Whether to start with the latest state instead of the cached one. */
  readonly isFresh?: boolean
}

export type CommitResult = UpdateResult<KubeObject> & {
  /** The cached item, if the object was not changed. */
  readonly unchanged?: Item | undefined
}

/**
 * Calls `decide` with the current state, and writes the result. For a dry run, `decide` gets the
 * latest state, and nothing is written.
 */
export async function commit(
  request: ResourceRequest,
  { key, access, isDryRun, isFresh = false }: Commit,
  decide: (current: Current<KubeObject> | undefined) => Promise<Decision>,
): Promise<CommitResult> {
  const { store, decode, ttlSeconds } = access.storage
  const { resource, context } = request
  const { signal } = context
  // A cached item records whether its stored form is outdated, unless a webhook has converted the
  // item.
  const isUnknown =
    resource.versions.conversionWebhook !== undefined &&
    resource.shape.custom?.hasOldVersions === true
  const mustRead = isFresh || isUnknown
  if (isDryRun) return dryRun(request, { key, access, mustRead }, decide)
  const item = mustRead ? undefined : await readCached(access, key)
  const cached = item && (await heldCurrent(request, item))
  // Checks that the object still has this revision. The reader allows concurrent callers to share
  // one linearizable read.
  const isStill = async (revision: Revision): Promise<boolean> =>
    (await access.reader.get(key, 'latest')).item?.revision === revision
  // Whether memory for the stored object has already been reserved: for a cached item by
  // `heldCurrent`, and for a fresh state by the caller.
  let isHeld = item !== undefined || isFresh
  const decodeLatest = (stored: StoredValue): MaybePromise<KubeObject> => {
    context.storedBytes = stored.value.length
    if (isHeld) return context.isLarge ? context.inParts(() => decode(stored)) : decode(stored)
    isHeld = true
    return decodeHeld(request, decode, stored)
  }
  const result = await store.update(
    key,
    { cached, isStill, decode: decodeLatest, signal, ttlSeconds },
    decide,
  )
  if (result.outcome !== 'unchanged' || item?.revision !== result.revision) return result
  if (cached !== undefined) item.keepObject(cached.object)
  return { ...result, unchanged: item }
}

async function dryRun(
  request: ResourceRequest,
  { key, access, mustRead }: Pick<Commit, 'key' | 'access'> & { readonly mustRead: boolean },
  decide: (current: Current<KubeObject> | undefined) => Promise<Decision>,
): Promise<UpdateResult<KubeObject>> {
  const { revision, current } = mustRead
    ? await readStored(request, access.storage, key)
    : await readLatest(request, access.reader, key)
  const decision = await decide(current)
  const outcome =
    decision === 'delete'
      ? 'deleted'
      : decision === 'unchanged' || decision === 'untouched'
        ? 'unchanged'
        : 'put'
  return { outcome, revision: current?.revision ?? revision, previous: current }
}

type Latest = { readonly revision: Revision; readonly current: Current<KubeObject> | undefined }

async function readLatest(
  request: ResourceRequest,
  reader: WriteAccess['reader'],
  key: Key,
): Promise<Latest> {
  const { revision, item } = await reader.get(key, 'latest')
  return { revision, current: item && (await heldCurrent(request, item)) }
}

async function readStored(
  request: ResourceRequest,
  { store, decode }: StorageAccess,
  key: Key,
): Promise<Latest> {
  const { revision, found } = await store.get(key)
  request.context.storedBytes = found?.value.length ?? 0
  const object = found && (await decodeHeld(request, decode, found))
  return { revision, current: found && object && { ...found, object } }
}

/** Reserves memory for a stored object, and then decodes it. */
async function decodeHeld(
  request: ResourceRequest,
  decode: StorageAccess['decode'],
  stored: StoredValue,
): Promise<KubeObject> {
  const { context } = request
  if (!context.isLarge || isProtobuf(stored.value)) holdStored(request, stored.value.length)
  else await holdStoredJson(request, stored.value)
  return context.isLarge ? context.inParts(() => decode(stored)) : decode(stored)
}

/**
 * Reserves memory for a cached object, and then returns its state. The result is a promise if the
 * object is large.
 */
function heldCurrent(request: ResourceRequest, item: Item): MaybePromise<Current<KubeObject>> {
  request.context.storedBytes = item.length
  if (item.isLarge) return heldLargeCurrent(request, item)
  holdStored(request, item.length)
  return currentOf(item)
}

async function heldLargeCurrent(
  request: ResourceRequest,
  item: Item,
): Promise<Current<KubeObject>> {
  await holdLargeItem(request, item)
  return request.context.inParts(() => currentOf(item))
}

/**
 * Returns the cached item. Returns undefined if the object is not cached, or if its stored bytes
 * cannot be read. In the second case, the store reports the error.
 */
export async function readCached(
  { reader }: Pick<WriteAccess, 'reader'>,
  key: Key,
): Promise<Item | undefined> {
  const { item, isUnreadable } = await reader.get(key, 'any')
  return isUnreadable === true ? undefined : item
}

/**
 * Returns the cached state as a first guess. If the state is outdated, the comparison in the
 * transaction fails, and the store reads the latest state. The decoded object is not cached,
 * because the write is about to replace it.
 */
export function currentOf(item: Item): Current<KubeObject> {
  const object = item.peek()
  if (item.isOutdated) markOutdated(object)
  return { revision: item.revision, createRevision: item.createRevision, object, stale: false }
}
