/** Decides on the state of one object and writes what was decided. */
import { noMemory } from '../../../api/errors.ts'
import type { KubeObject } from '../../../api/object.ts'
import { markOutdated } from '../../../objects/codec/object.ts'
import type { Item } from '../../../storage/cache/item.ts'
import type { ResourceRequest } from '../../../registry/resource.ts'
import type { Key, Revision } from '../../../storage/engine.ts'
import type { Current, Decision, Stored, UpdateResult } from '../../../storage/store.ts'
import type { WriteAccess } from '../access.ts'

type Commit = {
  readonly key: Key
  readonly access: WriteAccess
  readonly isDryRun: boolean
  /** Begin with the latest state rather than the cached one. */
  readonly isFresh?: boolean
}

export type Committed = UpdateResult<KubeObject> & {
  /** The cached item, if the object was not changed. */
  readonly unchanged?: Item | undefined
}

/** A stored object up to this does not count beside the body of its request: most are smaller. */
const SMALL_BYTES = 16 * 1024
/** As a body: it is decoded, often copied, changed, printed, sent to webhooks. */
const STORED_HELD_TIMES = 10

/** Decides on the current state and writes the decision. A dry run decides on the latest state and writes nothing. */
export async function commit(
  request: ResourceRequest,
  { key, access, isDryRun, isFresh = false }: Commit,
  decide: (current: Current<KubeObject> | undefined) => Promise<Decision>,
): Promise<Committed> {
  const { store, decode, ttlSeconds } = access
  const { resource, context } = request
  const { signal } = context
  if (isDryRun) return dryRun(request, { key, access }, decide)
  // A cached item knows whether it is outdated, unless a webhook converted it.
  const isUnknown =
    resource.conversionWebhook !== undefined && resource.shape.custom?.hasOldVersions === true
  const mustRead = isFresh || isUnknown
  const item = mustRead ? undefined : await readCached(access, key)
  if (item !== undefined) holdStored(request, item.length)
  const cached =
    item && (context.isLarge ? await context.inParts(() => currentOf(item)) : currentOf(item))
  // Concurrent callers share one linearizability proof.
  const isStill = async (revision: Revision): Promise<boolean> =>
    (await access.reader.get(key, 'latest')).item?.revision === revision
  const decodeLatest = (stored: Stored): KubeObject | Promise<KubeObject> => {
    context.storedBytes = stored.value.length
    return context.isLarge ? context.inParts(() => decode(stored)) : decode(stored)
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

/** Fails if there is no room. The objects of a collection are deleted a few at a time, and do not count. */
function holdStored({ http, verb, context }: ResourceRequest, bytes: number): void {
  context.storedBytes = bytes
  if (bytes <= SMALL_BYTES || verb === 'deletecollection') return
  if (http.hold?.(bytes * STORED_HELD_TIMES) === false) throw noMemory()
}

async function dryRun(
  request: ResourceRequest,
  { key, access: { store, decode } }: Pick<Commit, 'key' | 'access'>,
  decide: (current: Current<KubeObject> | undefined) => Promise<Decision>,
): Promise<UpdateResult<KubeObject>> {
  const { revision, found } = await store.get(key)
  holdStored(request, found?.value.length ?? 0)
  const { context } = request
  const object =
    found && (context.isLarge ? await context.inParts(() => decode(found)) : decode(found))
  const previous = found && object && { ...found, object }
  const decision = await decide(previous)
  const outcome =
    decision === 'delete'
      ? 'deleted'
      : decision === 'unchanged' || decision === 'untouched'
        ? 'unchanged'
        : 'put'
  return { outcome, revision: previous?.revision ?? revision, previous }
}

/** Undefined: there is none, or what is stored cannot be read, which the store will find, too. */
export async function readCached(
  { reader }: Pick<WriteAccess, 'reader'>,
  key: Key,
): Promise<Item | undefined> {
  const { item, isUnreadable } = await reader.get(key, 'any')
  return isUnreadable === true ? undefined : item
}

/**
 * The cached state, as a first guess: if it is stale the compare of the transaction fails, and the store reads the latest. The decoded
 * object is not kept, since the write is about to replace it.
 */
export function currentOf(item: Item): Current<KubeObject> {
  const object = item.peek()
  if (item.isOutdated) markOutdated(object)
  return { revision: item.revision, createRevision: item.createRevision, object, stale: false }
}
