/**
 * Opens a watch. Waits until the resource is as recent as requested. If the watch resumes from
 * before the event ring, reads the earlier events. Then adds the watcher to the resource, so that
 * no event is lost or duplicated.
 */
import type { Revision } from '../engine.ts'
import { StorageError } from '../errors.ts'
import type { KeyRange } from '../keys.ts'
import { doesNotFit, OutOfRoom } from './ceiling.ts'
import { REACH_MS } from './fresh-state.ts'
import type { Item, Matches } from './item.ts'
import { tooNew, tooOld } from './read-errors.ts'
import { refuseUnreadable } from './refuse-unreadable.ts'
import type { CachedResourceOptions } from './resource-options.ts'
import type { OnUnreadable } from './resource-watchers.ts'
import type { CachedResource } from './resource.ts'
import { type EarlierEvents, noEarlierEvents, SharedHistories } from './shared-histories.ts'
import type { KeySet, Selection, Tree } from './tree.ts'
import { Watcher, type WatchFilter, type WatchStart } from './watch.ts'

/**
 * Maximum number of attempts. An attempt fails if the resource is listed again, or its event ring
 * evicts needed events, between the last wait and the start. This rarely happens twice in a row.
 */
const TRIES_MAX = 5

type WatchFromObjects = {
  readonly initial: 'any' | 'latest' | { readonly atLeast: Revision }
  readonly markEnd?: boolean
}

export type WatchOptions = {
  readonly range: KeyRange
  /** Where the watch starts: with the existing objects, or with the events after a revision. */
  readonly start: WatchFromObjects | { readonly after: Revision }
  readonly matches?: Matches | undefined
  /** Values that all selected objects must have, as in `Selection`. */
  readonly by?: Selection['by']
  /**
   * The client, or an empty string for the server itself. The number of history reads is limited
   * per client.
   */
  readonly client?: string
  /**
   * Called with the key of each object that cannot be decrypted, including those that exist at the
   * start. Without this function, a watch that begins with the existing objects is refused if one
   * of them cannot be decrypted. Its client would otherwise assume that the objects are complete.
   */
  readonly onUnreadable?: OnUnreadable
}

export class WatchOpener {
  readonly #resource: CachedResource
  readonly #options: CachedResourceOptions
  readonly #histories: SharedHistories

  constructor(resource: CachedResource, options: CachedResourceOptions) {
    this.#resource = resource
    this.#options = options
    this.#histories = new SharedHistories(resource, options)
  }

  /**
   * Opens a watch. Rejects with 'compacted' if the events after the revision are no longer
   * available, and with 'too-new' if the revision is not reached in time.
   */
  async open(options: WatchOptions): Promise<Watcher> {
    const filter = { range: options.range, matches: options.matches }
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const earlier = await this.#prepare(options)
      if (earlier === undefined) return this.#closedWatch(filter)
      // Do not await anything from here to `join`, so that no event is lost or duplicated.
      const start = this.#startOf(options, earlier)
      if (start === undefined) {
        earlier.release()
        continue
      }
      const { onUnreadable } = options
      if (onUnreadable === undefined && 'initial' in options.start) {
        try {
          refuseUnreadable(this.#resource, options.range, options.start.initial)
        } catch (error) {
          earlier.release()
          throw error
        }
      }
      const watcher = new Watcher(this.#resource.watchSource(options.by), filter, start)
      this.#resource.join(watcher, onUnreadable)
      return watcher
    }
    throw tooOld()
  }

  /**
   * Waits for the objects, or reads the earlier events. Returns undefined if the resource is
   * closed.
   */
  async #prepare({ start, client = '' }: WatchOptions): Promise<EarlierEvents | undefined> {
    try {
      const earlier = await ('after' in start
        ? this.#eventsAfter(start.after, client)
        : this.#reachObjects(start))
      if (!this.#resource.reflector.isClosed()) return earlier
      earlier.release()
      return undefined
    } catch (error) {
      if (this.#resource.reflector.isClosed()) return undefined
      throw error
    }
  }

  /**
   * Returns a closed watcher, as if the CustomResourceDefinition had changed just after the watch
   * was opened. The client then opens another watch under the new definition.
   */
  #closedWatch(filter: WatchFilter): Watcher {
    const watcher = new Watcher(this.#resource.watchSource(), filter, {
      initial: undefined,
      ...replayOf(noEarlierEvents(0)),
      position: 0,
      seen: 0,
      initialRevision: 0,
      markInitialEnd: false,
    })
    watcher.close('shutdown')
    return watcher
  }

  /** Waits until the objects are as recent as requested. */
  async #reachObjects({ initial }: WatchFromObjects): Promise<EarlierEvents> {
    const resource = this.#resource
    const isFresh = resource.reflector.phase === 'idle'
    await this.#live()
    const needed =
      initial === 'any'
        ? 0
        : initial !== 'latest'
          ? initial.atLeast
          : isFresh
            ? 0
            : await this.#options.feed.prove()
    if (!(await resource.reflector.reach(needed, REACH_MS)))
      throw tooNew(needed, resource.reflector.revision)
    return noEarlierEvents(needed)
  }

  async #eventsAfter(after: Revision, client: string): Promise<EarlierEvents> {
    await this.#live()
    if (this.#options.feed.isLost(after, this.#resource.reflector.revision)) throw tooOld()
    return this.#histories.eventsAfter(after, client)
  }

  async #live(): Promise<void> {
    const resource = this.#resource
    try {
      if (await resource.live(this.#options.watchReadyMs)) return
    } catch (error) {
      if (error instanceof OutOfRoom) throw doesNotFit(resource.spec.name)
      throw error
    }
    throw new StorageError('unavailable', `${resource.spec.name} cannot be listed at the moment`)
  }

  /**
   * Returns where the watcher starts. Returns undefined if the resource is being listed again, or
   * if the event ring has evicted needed events.
   */
  #startOf({ start, range, by }: WatchOptions, earlier: EarlierEvents): WatchStart | undefined {
    const { ring, tree } = this.#resource
    const { phase, revision } = this.#resource.reflector
    if (phase !== 'live') return undefined
    const replay = replayOf(earlier)
    if (!('after' in start)) {
      const among = by && this.#resource.having(by)
      return {
        initial:
          among === undefined
            ? itemsIn(tree.clone(), range)
            : itemsAmong(among, tree.clone(), range),
        ...replay,
        position: ring.end,
        seen: revision,
        initialRevision: revision,
        markInitialEnd: start.markEnd ?? false,
      }
    }
    const { until } = earlier
    if (!ring.reachesBackTo(until)) return undefined
    return {
      initial: undefined,
      ...replay,
      position: ring.positionAfter(until),
      seen: start.after,
      initialRevision: until,
      markInitialEnd: false,
    }
  }
}

const replayOf = ({ changes, at, release }: EarlierEvents) => ({
  earlier: changes,
  earlierAt: at,
  onReplayed: release,
})

function* itemsAmong(keys: KeySet, tree: Tree, range: KeyRange): Generator<Item, void, void> {
  for (const key of keys.keys(range.from)) {
    if (key >= range.to) return
    const item = tree.get(key)
    if (item !== undefined) yield item
  }
}

function* itemsIn(tree: Tree, range: KeyRange): Generator<Item, void, void> {
  // The tree reuses the array `[]` for the key and item of every entry. This saves memory, because
  // a hundred watchers may iterate over all objects at the same time.
  for (const [key, item] of tree.entries(range.from, [])) {
    if (key >= range.to) return
    yield item
  }
}
