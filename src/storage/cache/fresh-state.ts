/**
 * Waits until the cache can serve a read, and chooses the state to read from. A read of the latest
 * state includes everything that was acknowledged to any client before the call. Its revision is
 * requested from the database, once for all concurrent callers. The read is served from memory when
 * the cache has reached this revision. If this takes too long, the database is read instead.
 */
import type { Revision } from '../engine.ts'
import { OutOfRoom } from './ceiling.ts'
import { tooNew } from './read-errors.ts'
import type { Reflector } from './reflector.ts'
import type { CachedResourceOptions } from './resource-options.ts'
import type { CachedResource } from './resource.ts'
import type { Snapshot } from './snapshots.ts'
import type { Tree } from './tree.ts'

/** Maximum time that a read waits for a revision, as in kube-apiserver. */
export const REACH_MS = 3_000

/** How recent the state of a read must be. 'any' accepts any state in memory. */
export type Freshness =
  | 'any'
  | 'latest'
  | { readonly atLeast: Revision }
  | { readonly exactly: Revision }

/**
 * The objects at one revision. The tree does not change during the current tick of the event loop.
 */
export type CacheState = {
  readonly tree: Tree
  readonly revision: Revision
  /** ID of the list that loaded the objects of this state (`CachedResource.listing`). */
  readonly listing: number
  readonly isCurrent: boolean
  /**
   * The keys that indexes found for earlier pages of the same list, if the state comes from a
   * snapshot.
   */
  readonly found?: Snapshot['found']
}

/**
 * Where to read from. 'current' stands for the state that the resource has when it is read. 'store'
 * means that the database must be read, because the read cannot be served from memory.
 */
export type StateSource = 'current' | 'store' | CacheState

export class FreshState {
  readonly #resource: CachedResource
  readonly #reflector: Reflector
  readonly #options: CachedResourceOptions

  constructor(resource: CachedResource, options: CachedResourceOptions) {
    this.#resource = resource
    this.#reflector = resource.reflector
    this.#options = options
  }

  /**
   * Waits until the cache is as recent as requested. Does not wait if any state is accepted and the
   * objects are in memory.
   */
  wait(at: Freshness): 'current' | Promise<StateSource> {
    return at === 'any' && this.#reflector.isFilled ? 'current' : this.#wait(at)
  }

  /**
   * Returns the state. The caller must use it in the same tick of the event loop, because the
   * current state can change during an await. Returns undefined if the database must be read, for
   * example because the objects have been dropped in the meantime.
   */
  take(source: StateSource): CacheState | undefined {
    if (typeof source === 'object') return source
    const tree = source === 'current' ? this.#resource.known() : undefined
    if (tree === undefined) return undefined
    const { listing } = this.#resource
    return { tree, revision: this.#reflector.revision, listing, isCurrent: true }
  }

  /**
   * Starts to load the objects. Returns false if they are already in memory or cannot be loaded.
   * While they are being loaded, it is faster to read a single object from the database.
   */
  beginFill(): boolean {
    const reflector = this.#reflector
    if (reflector.isFilled || reflector.isLeftOut || reflector.isClosed()) return false
    // Ignore the error here, because the readers that wait for the objects get it.
    this.#resource.ensure().catch(() => undefined)
    return true
  }

  async #wait(at: Freshness): Promise<StateSource> {
    const reflector = this.#reflector
    if (reflector.isLeftOut) return this.#leftOut()
    try {
      const source = await this.#reach(at)
      return reflector.isClosed() ? 'store' : source
    } catch (error) {
      if (error instanceof OutOfRoom) return this.#leftOut()
      // The resource was closed because its CustomResourceDefinition has changed. A request from
      // before the change reads the database under the old definition.
      if (reflector.isClosed()) return 'store'
      throw error
    }
  }

  #leftOut(): 'store' {
    this.#options.ceiling.storeReads++
    return 'store'
  }

  async #reach(at: Freshness): Promise<StateSource> {
    const reflector = this.#reflector
    const isFresh = reflector.isFilled ? false : await this.#resource.ensure()
    if (at === 'any') return 'current'
    if (at === 'latest') {
      if (isFresh) return 'current'
      return this.#reachLatest()
    }
    if ('exactly' in at) return this.#reachExactly(at.exactly)
    if (!(await reflector.reach(at.atLeast, REACH_MS))) throw tooNew(at.atLeast, reflector.revision)
    return 'current'
  }

  async #reachLatest(): Promise<'current' | 'store'> {
    const reflector = this.#reflector
    const { counts } = this.#resource
    const { monotonicMs } = this.#options.time
    const startMs = monotonicMs()
    const revision = await this.#options.feed.prove()
    const hasReached = reflector.revision >= revision || (await reflector.reach(revision, REACH_MS))
    counts.readWait.observe((monotonicMs() - startMs) / 1000)
    if (hasReached) counts.consistent++
    else counts.fellBack++
    return hasReached ? 'current' : 'store'
  }

  async #reachExactly(revision: Revision): Promise<'store' | CacheState> {
    const resource = this.#resource
    if (this.#reflector.revision < revision) {
      const newest = await this.#options.feed.prove()
      if (newest < revision) throw tooNew(revision, newest)
      if (!(await this.#reflector.reach(revision, REACH_MS))) return 'store'
    }
    const { listing } = resource
    // If the resource had unreadable objects, only the database can determine which objects were
    // readable at that revision.
    const snapshot = resource.wasReadable(revision) ? await resource.stateAt(revision) : undefined
    if (snapshot === undefined) return 'store'
    const { tree, found } = snapshot
    return { tree, revision, listing, isCurrent: false, found }
  }
}
