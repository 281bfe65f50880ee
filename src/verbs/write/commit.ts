/** Decides on the state of one object and writes what was decided. */
import type { KubeObject } from '../../api/object.ts'
import { markOutdated } from '../../codec/object.ts'
import type { Item } from '../../cache/item.ts'
import type { ResourceRequest } from '../../registry/resource.ts'
import type { Key, Revision } from '../../storage/engine.ts'
import type { Current, Decision, UpdateResult } from '../../storage/store.ts'
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

/** Decides on the current state and writes the decision. A dry run decides on the latest state and writes nothing. */
export async function commit(
  { resource, context }: ResourceRequest,
  { key, access, isDryRun, isFresh = false }: Commit,
  decide: (current: Current<KubeObject> | undefined) => Promise<Decision>,
): Promise<Committed> {
  const { store, decode, ttlSeconds } = access
  const { signal } = context
  if (isDryRun) return dryRun(key, access, decide)
  // A cached item knows whether it is outdated, unless a webhook converted it.
  const isUnknown = resource.conversionWebhook !== undefined && resource.shape.custom?.hasOldVersions === true
  const mustRead = isFresh || isUnknown
  const item = mustRead ? undefined : await readCached(access, key)
  const cached = item && currentOf(item)
  // Concurrent callers share one linearizability proof.
  const isStill = async (revision: Revision): Promise<boolean> =>
    (await access.reader.get(key, 'latest')).item?.revision === revision
  const result = await store.update(key, { cached, isStill, decode, signal, ttlSeconds }, decide)
  if (result.outcome !== 'unchanged' || item?.revision !== result.revision) return result
  if (cached !== undefined) item.keepObject(cached.object)
  return { ...result, unchanged: item }
}

async function dryRun(
  key: Key,
  { store, decode }: WriteAccess,
  decide: (current: Current<KubeObject> | undefined) => Promise<Decision>,
): Promise<UpdateResult<KubeObject>> {
  const { revision, found } = await store.get(key)
  const previous = found && { ...found, object: decode(found) }
  const decision = await decide(previous)
  const outcome =
    decision === 'delete' ? 'deleted' : decision === 'unchanged' || decision === 'untouched' ? 'unchanged' : 'put'
  return { outcome, revision: previous?.revision ?? revision, previous }
}

/** Undefined: there is none, or what is stored cannot be read, which the store will find, too. */
export async function readCached({ reader }: Pick<WriteAccess, 'reader'>, key: Key): Promise<Item | undefined> {
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
