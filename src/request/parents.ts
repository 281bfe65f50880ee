/**
 * Creates objects only while the objects on which they depend exist: a namespace, or the definition
 * of a custom resource. Admission checks these parents, but the steps after this check can take
 * long. The write therefore checks again, in its own transaction, that the parents have not
 * changed.
 */
import { tooManyRequests } from '../api/errors.ts'
import type { KubeObject } from '../api/object.ts'
import type { Item } from '../storage/cache/item.ts'
import type { ObjectReader } from '../storage/cache/reader.ts'
import type { Key, KeyRevision } from '../storage/engine.ts'
import { isCode } from '../storage/errors.ts'
import type { ObjectStore } from '../storage/store.ts'

/**
 * Number of attempts of a create, each with the latest parents. If all attempts fail, a parent is
 * being changed continuously.
 */
const TRIES = 10
const RETRY_SECONDS = 1

/** An object that must exist while another one is created. */
export type Parent = {
  readonly key: Key
  readonly reader: Pick<ObjectReader, 'known' | 'get'>
  readonly states: ParentStates
  /**
   * Whether the parent is in the same database as the new object, so that one transaction can
   * compare it. Otherwise its latest state is checked right before the write.
   */
  readonly isComparable: boolean
  /**
   * Throws an error if the parent does not allow an object to be created now. `state` is undefined
   * if the parent does not exist.
   */
  readonly check: (state: ParentState | undefined, verb: ParentVerb) => void
}

export type ParentState = { readonly uid: string; readonly creates: AllowedCreates }

/**
 * The requests that a parent allows to create objects. With 'update', it allows all requests except
 * those with the verb create.
 */
export type AllowedCreates = 'all' | 'update' | 'none'

/**
 * The verb of the request. 'update' stands for all requests that create an object only if it does
 * not exist.
 */
export type ParentVerb = 'create' | 'update'

/** Reads the state of parents once for each version, because parents can be large. */
export class ParentStates {
  readonly #allowedCreates: (parent: KubeObject) => AllowedCreates
  readonly #states = new WeakMap<Item, ParentState>()

  constructor(allowedCreates: (parent: KubeObject) => AllowedCreates) {
    this.#allowedCreates = allowedCreates
  }

  /**
   * Returns the state of a parent, or undefined if the parent is large and must be decoded first.
   */
  known(item: Item): ParentState | undefined {
    return this.#states.get(item) ?? (item.isLarge ? undefined : this.#read(item, item.peek()))
  }

  async read(item: Item): Promise<ParentState> {
    return this.known(item) ?? this.#read(item, await item.peekInParts())
  }

  #read(item: Item, parent: KubeObject): ParentState {
    const state = {
      uid: parent.metadata.uid ?? '',
      creates: this.#allowedCreates(parent),
    }
    this.#states.set(item, state)
    return state
  }
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
      let unchanged =
        knownRevisions(parents, 'create') ?? (await latestRevisions(parents, 'create'))
      for (let tries = 1; ; tries++) {
        try {
          return await store.create(key, value, { ...options, unchanged })
        } catch (error) {
          if (!isCode(error, 'conflict')) throw error
          if (tries === TRIES) throw changesTooOften(error)
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

function changesTooOften(cause: unknown): Error {
  const error = tooManyRequests(
    'the namespace or the definition of the object changes too often to create the object: try again',
    RETRY_SECONDS,
  )
  error.cause = cause
  return error
}

/**
 * Returns the revisions of the cached parents. Returns undefined if the latest parents must be
 * read: if a parent cannot be compared or is not in the cache, or if the cached parent does not
 * allow the create. The cache may be outdated.
 */
function knownRevisions(parents: readonly Parent[], verb: ParentVerb): KeyRevision[] | undefined {
  const revisions: KeyRevision[] = []
  for (const { key, reader, states, isComparable, check } of parents) {
    const item = isComparable ? reader.known()?.get(key) : undefined
    const state = item && states.known(item)
    if (item === undefined || state === undefined) return undefined
    try {
      check(state, verb)
    } catch {
      return undefined
    }
    revisions.push({ key, revision: item.revision })
  }
  return revisions
}

/** Checks the latest parents, and returns the revisions of those that can be compared. */
async function latestRevisions(
  parents: readonly Parent[],
  verb: ParentVerb,
): Promise<KeyRevision[]> {
  const revisions: KeyRevision[] = []
  for (const { key, reader, states, isComparable, check } of parents) {
    const { item } = await reader.get(key, 'latest')
    check(item && (await states.read(item)), verb)
    if (isComparable) revisions.push({ key, revision: item?.revision ?? 0 })
  }
  return revisions
}
