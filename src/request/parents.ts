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
 * Number of attempts of a create, each with the latest parents. A parent that changes this often
 * while one object is stored is being written without pause.
 */
const TRIES = 10

/** An object that must exist while another one is created. */
export type Parent = {
  readonly key: Key
  readonly reader: Pick<ObjectReader, 'get'>
  /**
   * Throws if an object must not be created now. `parent` is undefined if it does not exist. `verb`
   * is 'update' if the request would also have changed an existing object.
   */
  readonly check: (parent: KubeObject | undefined, verb: 'create' | 'update') => void
}

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
      for (let tries = 1; ; tries++) {
        const unchanged = await revisionsOf(parents, 'create', tries === 1 ? 'any' : 'latest')
        try {
          return await store.create(key, value, { ...options, unchanged })
        } catch (error) {
          if (!isCode(error, 'conflict') || tries === TRIES) throw error
        }
      }
    },
    update: (key, options, decide) => {
      let creates = 0
      return store.update(key, options, async (current) => {
        const decision = await decide(current)
        if (current !== undefined || typeof decision !== 'object') return decision
        const freshness = creates++ === 0 ? 'any' : 'latest'
        return { ...decision, unchanged: await revisionsOf(parentsOf(key), 'update', freshness) }
      })
    },
  }
}

/**
 * Checks the parents and returns their revisions. A cached parent may be outdated, so it is read
 * again before an error is thrown.
 */
async function revisionsOf(
  parents: readonly Parent[],
  verb: 'create' | 'update',
  freshness: 'any' | 'latest',
): Promise<KeyRevision[]> {
  const revisions: KeyRevision[] = []
  for (const { key, reader, check } of parents) {
    const { item } = await reader.get(key, freshness)
    try {
      check(item?.object(), verb)
    } catch (error) {
      if (freshness === 'latest') throw error
      return revisionsOf(parents, verb, 'latest')
    }
    revisions.push({ key, revision: item?.revision ?? 0 })
  }
  return revisions
}
