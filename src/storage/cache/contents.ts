/**
 * The contents of a resource in memory since it was last listed: the current objects, the events
 * since then, snapshots of the recent past, and the groups of watchers. They are replaced together
 * when the resource is listed again, because a position in one event ring is meaningless in another
 * event ring.
 */
import type { Time } from '../../lib/time/timers.ts'
import type { Revision } from '../engine.ts'
import type { ObjectChange } from './event.ts'
import type { EvictionQueue } from './eviction-queue.ts'
import type { Item } from './item.ts'
import { Ring } from './ring.ts'
import type { Slabs } from './slabs.ts'
import { type Snapshot, Snapshots } from './snapshots.ts'
import type { Tree } from './tree.ts'
import { WatchGroups } from './watch-groups.ts'

/** Approximate memory of an event in addition to the bytes of the object that it replaced. */
const EVENT_BYTES = 200

export type ContentsOptions = {
  readonly slabs: Slabs
  /**
   * Eviction queue for the recent events of all resources. If busy resources evict the events of a
   * quiet resource, watches of the quiet one resume more slowly, from the history of the database.
   */
  readonly past: EvictionQueue
  readonly time: Time
}

/**
 * The result of a list. `listing` is a unique ID of the list. Together with a revision it
 * identifies a state, even if two databases have the same revisions.
 */
type ListedState = { readonly tree: Tree; readonly revision: Revision; readonly listing: number }

export class ResourceContents {
  readonly tree: Tree
  readonly ring: Ring
  readonly groups: WatchGroups
  readonly listing: number
  readonly #snapshots: Snapshots
  readonly #options: ContentsOptions
  /**
   * An immutable copy of the current tree, if one was requested. It is discarded at the next change
   * of an object.
   */
  #current: Snapshot | undefined

  constructor({ tree, revision, listing }: ListedState, options: ContentsOptions) {
    this.tree = tree
    this.listing = listing
    this.ring = new Ring(revision, ({ previous }, first) => {
      if (previous !== undefined) options.slabs.release(previous)
      this.#snapshots.forgetBefore(first)
    })
    this.groups = new WatchGroups(this.ring, options.time)
    this.#snapshots = new Snapshots(this.ring, options.time)
    this.#options = options
  }

  /** Returns the current state as an immutable copy. */
  snapshot(): Snapshot {
    const { ring } = this
    this.#current ??= {
      ring,
      position: ring.end,
      tree: this.tree.clone(),
      counts: new Map(),
      found: new Map(),
    }
    return this.#current
  }

  /** Returns the state at a revision that has been reached, or undefined if it is too old. */
  async stateAt(revision: Revision): Promise<Snapshot | undefined> {
    return this.#snapshots.at(revision, () => this.snapshot())
  }

  /** Stores a snapshot, because the next page of the same list will request it again. */
  keep(snapshot: Snapshot): void {
    this.#snapshots.keep(snapshot)
  }

  record(change: ObjectChange): void {
    this.#current = undefined
    // Drop the decoded form of the old version. Later writes start from the new version, and
    // watchers need only the bytes of the old one.
    if (change.previous !== undefined) change.previous.decoded = undefined
    if (change.item === undefined) this.tree.delete(change.key)
    else this.tree.set(change.key, change.item)
    this.ring.push(change)
    this.#options.past.add(this.ring, EVENT_BYTES + (change.previous?.length ?? 0))
  }

  /**
   * Releases the bytes of all objects and events, in slices of time. The contents must not be used
   * afterwards.
   */
  release(): void {
    this.#options.slabs.releaseAll(this.#slots())
  }

  *#slots(): Generator<Item | undefined, void, void> {
    yield* this.tree.values()
    const { ring } = this
    for (let at = ring.first; at < ring.end; at++) yield ring.at(at)?.previous
    for (; ring.end > ring.first; ring.evict()) yield
  }
}
