/**
 * Creates objects only while the objects on which they depend exist: a namespace, or the definition
 * of a custom resource. Admission checks both early, but may take long afterwards. The write
 * therefore checks again, in one transaction, that they have not changed.
 */
import type { KubeObject } from '../api/object.ts'
import type { ObjectReader } from '../storage/cache/reader.ts'
import type { Key, KeyRevision } from '../storage/engine.ts'
import { isCode } from '../storage/errors.ts'
import type { ObjectStore } from '../storage/store.ts'

/**
 * Maximum number of attempts of a create, each with the latest parents. If all attempts fail, a
 * parent is being changed without pause.
 */
const TRIES = 10

/** An object that must exist while another one is created. */
export type Parent = {
  readonly key: Key
  readonly reader: Pick<ObjectReader, 'known' | 'get'>
  /** Throws if an object must not be created now. `parent` is undefined if it does not exist. */
  readonly check: (parent: KubeObject | undefined, verb: ParentVerb) => void
}

/**
 * The verb of the request. 'update' stands for all requests that create an object only if it does
 * not exist.
 */
export type ParentVerb = 'create' | 'update'

/** Wraps a store. `parentsOf` returns the parents of the object with a key. */
export function withParents(
  store: ObjectStore,
  parentsOf: (key: Key) => readonly Parent[],
): ObjectStore {
  return {
    get: (key, options) => store.get(key, options),
    deleteUnreadable: (key, decode, options) => store.deleteUnreadable(key, decode, options),
    create: async (key, value, options) => {
      const parents = parentsOf(key)
      let unchanged =
        knownRevisions(parents, 'create') ?? (await latestRevisions(parents, 'create'))
      for (let tries = 1; ; tries++) {
        try {
          return await store.create(key, value, { ...options, unchanged })
        } catch (error) {
          if (!isCode(error, 'conflict') || tries === TRIES) throw error
          unchanged = await latestRevisions(parents, 'create')
        }
      }
    },
    update: (key, options, decide) => {
      let hasTried = false
      return store.update(key, options, async (current) => {
        const decision = await decide(current)
        if (current !== undefined || typeof decision !== 'object') return decision
        const parents = parentsOf(key)
        const known = hasTried ? undefined : knownRevisions(parents, 'update')
        hasTried = true
        return { ...decision, unchanged: known ?? (await latestRevisions(parents, 'update')) }
      })
    },
  }
}

/**
 * Returns the revisions of the cached parents. Returns undefined if one of them is not in the cache
 * or does not allow the create, because the cache may be outdated.
 */
function knownRevisions(parents: readonly Parent[], verb: ParentVerb): KeyRevision[] | undefined {
  const revisions: KeyRevision[] = []
  for (const { key, reader, check } of parents) {
    const item = reader.known()?.get(key)
    if (item === undefined) return undefined
    try {
      check(item.object(), verb)
    } catch {
      return undefined
    }
    revisions.push({ key, revision: item.revision })
  }
  return revisions
}

/** Checks the latest parents, and returns their revisions. */
async function latestRevisions(
  parents: readonly Parent[],
  verb: ParentVerb,
): Promise<KeyRevision[]> {
  const revisions: KeyRevision[] = []
  for (const { key, reader, check } of parents) {
    const { item } = await reader.get(key, 'latest')
    check(item?.object(), verb)
    revisions.push({ key, revision: item?.revision ?? 0 })
  }
  return revisions
}
