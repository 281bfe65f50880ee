/**
 * One resource in memory: its current objects, recent events and watchers. It is empty until the
 * first read. Then its reflector lists the objects and follows the event feed. The objects are
 * never older than the reflector's `revision`.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Wire } from '../../objects/codec/object.ts'
import type { Key, Revision, VersionedValue } from '../engine.ts'
import { StorageError } from '../errors.ts'
import { type KeyRange, rangeOf } from '../keys.ts'
import type { UnreadableValue } from '../store.ts'
import { ResourceContents } from './contents.ts'
import { ResourceCounts } from './counts.ts'
import { ObjectChange } from './event.ts'
import { FieldIndexes } from './field-index.ts'
import type { Item } from './item.ts'
import type { ItemEvent, LoadedObjects } from './listing.ts'
import { type ReflectedObjects, Reflector } from './reflector.ts'
import { ResourceItems } from './resource-items.ts'
import type { CachedResourceOptions, ResourceSpec } from './resource-options.ts'
import { type OnUnreadable, ResourceWatchers } from './resource-watchers.ts'
import type { Ring } from './ring.ts'
import type { Snapshot } from './snapshots.ts'
import { type IndexedValue, type KeySet, newTree, type Tree } from './tree.ts'
import { UnreadableObjects } from './unreadable-objects.ts'
import type { CloseReason, Watcher, WatchSource } from './watch.ts'

export class CachedResource implements ReflectedObjects {
  readonly spec: ResourceSpec
  readonly range: KeyRange
  readonly counts = new ResourceCounts()
  readonly reflector: Reflector
  readonly #options: CachedResourceOptions
  readonly #items: ResourceItems
  readonly #indexes: FieldIndexes | undefined
  readonly #watchers: ResourceWatchers
  #contents: ResourceContents
  #unreadable = new UnreadableObjects()
  /**
   * Whether all objects were readable in an earlier list. If so, clients may have received an
   * object that a later list cannot read.
   */
  #wasComplete = false
  /** Before this revision, at least one object was unreadable that later became readable. */
  #unreadableUntil: Revision = 0
  #isProbing = false
  #usedAtMs = 0

  constructor(spec: ResourceSpec, options: CachedResourceOptions) {
    this.spec = spec
    this.range = rangeOf(spec.prefix)
    this.#options = options
    this.reflector = new Reflector(this, options)
    this.#items = new ResourceItems(spec, options)
    this.#contents = new ResourceContents({ tree: newTree(), revision: 0, listing: 0 }, options)
    const { time, frames } = options
    const current = () => ({ tree: this.tree, ring: this.ring, range: this.range })
    this.#indexes = spec.facts && new FieldIndexes(spec.facts, current, time, options.indexes)
    this.#watchers = new ResourceWatchers({
      counts: this.counts,
      frames,
      indexes: this.#indexes,
      time,
      revision: () => this.reflector.revision,
      onLeave: () => this.#recordUse(),
    })
  }

  get tree(): Tree {
    return this.#contents.tree
  }

  get ring(): Ring {
    return this.#contents.ring
  }

  /**
   * Identifies the list with which the contents began. Together with a revision it identifies a
   * state, even if two databases have the same revisions.
   */
  get listing(): number {
    return this.#contents.listing
  }

  get watcherCount(): number {
    return this.#watchers.size
  }

  get unreadable(): UnreadableObjects {
    return this.#unreadable
  }

  /** Whether all objects were readable at a revision that the resource has reached. */
  wasReadable(revision: Revision): boolean {
    return this.#unreadable.size === 0 && revision >= this.#unreadableUntil
  }

  /** Time of the last use. Undefined while the resource is watched or not live. */
  get unusedSinceMs(): number | undefined {
    return this.#watchers.size > 0 || this.reflector.phase !== 'live' ? undefined : this.#usedAtMs
  }

  /** Returns the objects that can be served without waiting. */
  known(): Tree | undefined {
    this.#recordUse()
    return this.reflector.isFilled ? this.tree : undefined
  }

  /**
   * Waits until there are objects to serve, like `Reflector.ensure`, and records that the resource
   * is in use.
   */
  ensure(): Promise<boolean> {
    this.#recordUse()
    return this.reflector.ensure()
  }

  /**
   * Waits until the reflector follows the event feed, like `Reflector.live`, and records that the
   * resource is in use.
   */
  live(timeoutMs: number): Promise<boolean> {
    this.#recordUse()
    return this.reflector.live(timeoutMs)
  }

  /**
   * Returns the state at a revision that the resource has reached, or undefined if the state is too
   * old.
   */
  async stateAt(revision: Revision): Promise<Snapshot | undefined> {
    // A resource without objects has no past states.
    if (this.known() === undefined) return undefined
    return this.#contents.stateAt(revision)
  }

  /** Returns the current state as an immutable copy. */
  snapshot(): Snapshot {
    return this.#contents.snapshot()
  }

  /** Stores a snapshot, because the next page of the same list will request it again. */
  keep(snapshot: Snapshot): void {
    this.#contents.keep(snapshot)
  }

  /**
   * Returns the keys of all objects that have these values now. The set may contain other keys as
   * well. Returns undefined if no index can answer in this tick of the event loop.
   */
  having(by: readonly IndexedValue[]): KeySet | undefined {
    return this.#indexes?.find(by)?.clone()
  }

  /**
   * Records that no index could be used for these values, and that a scan rejected `looks` objects.
   */
  recordScan(by: readonly IndexedValue[], looks: number): void {
    this.#indexes?.recordScan(by, looks)
  }

  /** Creates an item for a single reader. The item is not stored in the cache. */
  looseItem(found: VersionedValue): Item {
    return this.#items.looseItem(found)
  }

  /**
   * Creates an item from an encrypted value. The item is not stored in the cache. Returns undefined
   * if the value cannot be decrypted, or if this requires a call to a KMS plugin.
   */
  looseItemOfEncrypted(stored: VersionedValue): Item | undefined {
    const decrypted = this.#items.decrypt(stored)
    return decrypted && this.#items.looseItem(decrypted)
  }

  /**
   * Records a version that the caller has written, so that it does not have to be decoded when the
   * event feed delivers it. If `object` is undefined, only the revision is recorded.
   */
  expect(key: Key, revision: Revision, object: KubeObject | undefined, wire: Wire): void {
    const { feed } = this.#options
    // A write to a database that has been replaced may be acknowledged late. In the new database,
    // its revision denotes another version.
    if (!feed.isSettled) return
    feed.recordWrite(revision)
    const { phase } = this.reflector
    if (object === undefined || phase === 'idle' || phase === 'closed') return
    // The response to a write usually arrives before the event or soon after it. Therefore the item
    // is not in memory yet, or is found among the recent events, and the tree rarely has to be
    // searched.
    const current = revision > this.reflector.revision ? undefined : this.#latest(key, revision)
    if (current?.revision === revision) current.setWire(object, wire)
    else if (current === undefined || current.revision < revision)
      this.#items.expect({ key, revision, object, wire })
  }

  /** Returns the current item of a key that changed at this revision. */
  #latest(key: Key, revision: Revision): Item | undefined {
    const change = this.#contents.ring.recent(key, revision)
    return change === undefined ? this.tree.get(key) : change.item
  }

  /**
   * Returns the source of events for a new watcher. With `by`, the watcher selects only objects
   * that have all these values, and only events about the first value wake it.
   */
  watchSource(by?: readonly IndexedValue[]): WatchSource {
    return this.#watchers.sourceOf(this.#contents, by)
  }

  /**
   * Adds a watcher. `onUnreadable` is called with the key of each object that cannot be decrypted,
   * now and later.
   */
  join(watcher: Watcher, onUnreadable?: OnUnreadable): void {
    this.#watchers.add(watcher, onUnreadable)
    if (onUnreadable === undefined) return
    for (const [key, revision] of this.#unreadable.revisions()) {
      if (!this.#isShown(key, revision)) onUnreadable(key, 'unreadable')
    }
  }

  /** Called at each periodic cleanup of the cache. */
  onSweep(): void {
    this.#watchers.onSweep()
    this.#indexes?.onSweep()
    this.#contents.groups.onSweep()
    if (this.#unreadable.size > 0) void this.#probeUnreadable()
  }

  /**
   * Closes the resource permanently. With `keepsBytes`, the memory of single objects is not
   * released, because the whole cache is being closed.
   */
  close({ keepsBytes = false } = {}): void {
    this.#watchers.closeAll('shutdown')
    this.reflector.close({ keepsBytes })
  }

  /**
   * Checks whether the objects in memory can still be read from the database, and returns the
   * number of objects that cannot. Reads that accept any state still return these objects, and
   * watchers are not affected.
   */
  async checkReadable(): Promise<number> {
    const lost = new Map<Key, UnreadableValue>()
    const walked = {
      isBackground: true,
      readsAhead: true,
      setsAsideUnreadable: true,
      isEachLatest: true,
    }
    for await (const { unreadable } of this.#options.store.walk(this.range, walked)) {
      for (const one of unreadable) lost.set(one.key, one)
    }
    if (this.reflector.phase !== 'live') return 0
    for (const [key, revision] of this.#unreadable.revisions()) {
      if (this.#isShown(key, revision) && !lost.has(key)) this.#unreadable.delete(key)
    }
    let count = 0
    for (const one of lost.values()) {
      if (!this.#isShown(one.key, one.revision)) continue
      this.#unreadable.add(one)
      count++
    }
    return count
  }

  #isShown(key: Key, revision: Revision): boolean {
    return this.tree.get(key)?.revision === revision
  }

  /**
   * Lists the resource again if one of the unreadable objects has become readable, for example with
   * another key.
   */
  async #probeUnreadable(): Promise<void> {
    const one = this.#unreadable.next()
    if (one === undefined || this.#isProbing || this.reflector.phase !== 'live') return
    this.#isProbing = true
    try {
      const { found } = await this.#options.store.get(one.key)
      if (found?.revision !== one.revision || this.#unreadable.get(one.key) !== one) return
      if (this.#isShown(one.key, one.revision)) this.#unreadable.delete(one.key)
      else this.reflector.listAgain()
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
    } finally {
      this.#isProbing = false
    }
  }

  #recordUse(): void {
    this.#usedAtMs = this.#options.time.monotonicMs()
  }

  // Only the reflector calls the following methods.

  newItem(found: VersionedValue): Item {
    return this.#items.newItem(found)
  }

  replace({ tree, revision, unreadable }: LoadedObjects, isFirst: boolean): void {
    const found =
      isFirst && !this.#wasComplete
        ? UnreadableObjects.listed(unreadable)
        : this.#unreadable.listedAgain(unreadable, (key) => this.tree.get(key) !== undefined)
    this.#wasComplete ||= unreadable.length === 0
    this.clear()
    this.#show(tree, revision)
    this.counts.initialized++
    this.#unreadable = found
  }

  apply(event: ItemEvent): void {
    const { key, revision, fault } = event
    // If the database reports that the key is new, the tree does not have to be searched.
    const previous = event.item?.createRevision === revision ? undefined : this.tree.get(key)
    if (fault !== undefined) {
      this.#unreadable.add({ key, revision, error: fault })
      // To watchers, the object must appear neither deleted nor unchanged, so their clients have to
      // list again.
      if (previous !== undefined) this.reflector.listAgain()
      else this.#watchers.reportUnreadable(key, 'unreadable')
      return
    }
    if (this.#unreadable.get(key) !== undefined) {
      const mayBeKnown = this.#unreadable.mayBeKnown(key)
      this.#unreadable.delete(key)
      this.#unreadableUntil = revision
      if (event.item === undefined) this.#watchers.reportUnreadable(key, 'gone')
      // Watchers may have delivered the object. Without its previous state, no event can report
      // that it was deleted or that a selector no longer matches it. Therefore their clients have
      // to list again.
      if (mayBeKnown) {
        if (event.item !== undefined) this.#options.slabs.release(event.item)
        return this.reflector.listAgain()
      }
    }
    if (event.item === undefined && previous === undefined) return
    this.counts.dispatched++
    this.#contents.record(new ObjectChange({ ...event, previous }))
  }

  onApplied(): void {
    this.#watchers.wake()
    this.#contents.groups.wake()
  }

  closeWatchers(reason: CloseReason): void {
    this.#watchers.closeAll(reason)
  }

  clear(): void {
    this.#unreadable = new UnreadableObjects()
    this.#contents.release()
    this.#items.forgetWrites()
    this.#indexes?.clear()
    this.#show(newTree(), 0)
  }

  /** Replaces the contents with a state that has no past events. */
  #show(tree: Tree, revision: Revision): void {
    const listing = this.#options.newListing()
    this.#contents = new ResourceContents({ tree, revision, listing }, this.#options)
  }
}
