/**
 * Keeps the objects of one resource in memory up to date, as client-go's Reflector does. It lists
 * them when they are first read, and then follows the event feed.
 *
 * Phases:
 * - `idle`: no objects are loaded.
 * - `filling`: the first list is in progress.
 * - `live`: the reflector follows the event feed.
 * - `behind`: events were lost, the watchers were closed, and a new list is in progress. Until it
 *   ends, the old state is served only to readers that accept any state or require no later
 *   revision.
 * - `closed`: the resource, or the whole cache, was closed permanently.
 */
import { assert } from '../../lib/errors.ts'
import { withTimeout, type TimeoutOptions, sleep } from '../../lib/time/timers.ts'
import type { Revision, VersionedValue } from '../engine.ts'
import { isCode, StorageError } from '../errors.ts'
import type { KeyRange } from '../keys.ts'
import type { OpenedEvent } from '../opened-events.ts'
import type { FeedConsumer, Subscription } from '../subscription.ts'
import { doesNotFit, OutOfRoom } from './ceiling.ts'
import type { ResourceCounts } from './counts.ts'
import type { Item } from './item.ts'
import { type ItemEvent, Listing, type LoadedObjects } from './listing.ts'
import type { CachedResourceOptions, ResourceSpec } from './resource-options.ts'

const RETRY_MIN_MS = 50
const RETRY_MAX_MS = 2_000
/**
 * A resource up to this size is loaded regardless of the memory limit. Most resources that the
 * server itself uses (roles, webhooks, priority levels) are smaller.
 */
const SMALL_BYTES = 1 << 20
/**
 * After a list fails because its values cannot be decrypted, readers get the same error for this
 * time. Then the resource is listed again.
 */
const FAILED_FILL_MS = 1_000

/** A resource whose objects a reflector updates, with the functions for these updates. */
export type ReflectedObjects = {
  readonly spec: ResourceSpec
  readonly range: KeyRange
  readonly counts: ResourceCounts
  readonly watcherCount: number
  readonly newItem: (found: VersionedValue) => Item
  /** Replaces all objects with those of a list. `isFirst` is true if no objects were loaded. */
  readonly replace: (loaded: LoadedObjects, isFirst: boolean) => void
  readonly apply: (event: ItemEvent) => void
  /** Called after a batch of events was applied. */
  readonly onApplied: () => void
  /** Closes the watchers, because they would miss events from now on. */
  readonly closeWatchers: (reason: 'gap') => void
  /** Drops all objects. */
  readonly clear: () => void
}

type Phase =
  | { readonly phase: 'idle' }
  | { readonly phase: 'filling' | 'behind'; readonly listing: Listing }
  | { readonly phase: 'live' }
  | { readonly phase: 'closed' }

type FailedFill = { readonly error: unknown; readonly untilMs: number }

export class Reflector {
  readonly #objects: ReflectedObjects
  readonly #options: CachedResourceOptions
  /**
   * Options for waits. A wait resolves at its timeout instead of rejecting. The loop around the
   * wait then checks the time.
   */
  readonly #timeout: TimeoutOptions<void>
  readonly #consumer: FeedConsumer = {
    onEvents: (events) => this.#onEvents(events),
    onGap: () => this.listAgain(),
    onReset: () => this.#onReset(),
  }
  #failedFill: FailedFill | undefined
  #phase: Phase = { phase: 'idle' }
  #subscription: Subscription | undefined
  /**
   * The revision of the last list, or the revision that had been reached when events were lost. The
   * event feed's revision is used as soon as it is higher.
   */
  #listed: Revision = 0

  constructor(objects: ReflectedObjects, options: CachedResourceOptions) {
    this.#objects = objects
    this.#options = options
    this.#timeout = { onTimeout: () => undefined, timers: options.time }
  }

  /** The revision up to which the objects and events in memory are complete. */
  get revision(): Revision {
    if (this.#phase.phase !== 'live' || this.#subscription === undefined) return this.#listed
    return Math.max(this.#listed, this.#subscription.revision)
  }

  get phase(): Phase['phase'] {
    return this.#phase.phase
  }

  /**
   * Whether the reflector is closed. This is a method, because TypeScript would assume that a
   * property keeps its value across an await.
   */
  isClosed(): boolean {
    return this.#phase.phase === 'closed'
  }

  /** Whether there are objects that can be served without waiting. */
  get isFilled(): boolean {
    return this.#phase.phase === 'live' || this.#phase.phase === 'behind'
  }

  /** Whether the objects recently did not fit into memory, so that reads go to the database. */
  get isLeftOut(): boolean {
    return (
      this.#phase.phase === 'idle' && this.#options.ceiling.leavesOut(this.#objects.spec.prefix)
    )
  }

  /**
   * Waits until there are objects to serve, unless the reflector is closed. Returns true if this
   * call started the list. The result is then more recent than the call.
   */
  async ensure(): Promise<boolean> {
    const { phase } = this.#phase
    if (phase === 'live' || phase === 'behind' || phase === 'closed') return false
    if (this.#failedFill !== undefined) {
      const { error, untilMs } = this.#failedFill
      if (this.#options.time.monotonicMs() < untilMs) throw error
    }
    const isFirst = this.#phase.phase === 'idle'
    await (this.#phase.phase === 'idle' ? this.#begin() : this.#phase.listing.done)
    return isFirst
  }

  /**
   * Waits until the reflector follows the event feed. Returns false if this takes too long, for
   * example while the database is down.
   */
  async live(timeoutMs: number): Promise<boolean> {
    if (this.isLeftOut) throw doesNotFit(this.#objects.spec.name)
    const until = this.#options.time.monotonicMs() + timeoutMs
    while (this.#phase.phase !== 'live') {
      const leftMs = until - this.#options.time.monotonicMs()
      if (leftMs <= 0) return false
      if (this.#phase.phase === 'closed')
        throw new StorageError('unavailable', 'the cache is closed')
      await withTimeout(
        this.#phase.phase === 'idle' ? this.#begin() : this.#phase.listing.done,
        leftMs,
        this.#timeout,
      )
    }
    return true
  }

  /**
   * Waits until the objects include all changes up to this revision. Returns false if this takes
   * too long.
   */
  async reach(revision: Revision, timeoutMs: number): Promise<boolean> {
    const until = this.#options.time.monotonicMs() + timeoutMs
    while (this.revision < revision) {
      const leftMs = until - this.#options.time.monotonicMs()
      if (leftMs <= 0) return false
      const { phase } = this.#phase
      if (phase === 'filling' || phase === 'behind')
        await withTimeout(this.#phase.listing.done, leftMs, this.#timeout)
      else if (phase !== 'live' || !(await this.#subscription?.reach(revision, leftMs)))
        return false
    }
    return true
  }

  /**
   * Lists the objects again, because events were lost or the objects differed from the database.
   * The events that the watchers have delivered are correct, but the watchers would miss later
   * ones. Therefore the watchers are closed, and each client resumes from the last revision that it
   * has received. If the history after that revision is still available, in memory or in the
   * database, the client misses nothing. Otherwise it has to list again.
   */
  listAgain(): void {
    if ('listing' in this.#phase) this.#phase.listing.lose()
    if (this.#phase.phase !== 'live') return
    this.#listed = this.revision
    this.#objects.closeWatchers('gap')
    const listing = this.#newListing()
    this.#phase = { phase: 'behind', listing }
    listing.settleWith(this.#catchUp(listing))
  }

  /** Drops all objects. The next read lists them again. */
  drop(): void {
    assert(this.#objects.watcherCount === 0, 'a watched resource is not dropped')
    this.#unsubscribe()
    this.#clear()
    this.#objects.spec.facts?.forgetWords()
    this.#phase = { phase: 'idle' }
  }

  /**
   * Closes the reflector permanently. With `keepsBytes`, the memory of single objects is not
   * released, because the whole cache is being closed.
   */
  close({ keepsBytes }: { readonly keepsBytes: boolean }): void {
    this.#unsubscribe()
    const before = this.#phase
    if (!keepsBytes) {
      if ('listing' in before) before.listing.forget()
      this.#clear()
    }
    this.#phase = { phase: 'closed' }
    if ('listing' in before) before.listing.close()
  }

  #unsubscribe(): void {
    this.#subscription?.leave(this.#consumer)
    this.#subscription = undefined
  }

  #clear(): void {
    this.#objects.clear()
    this.#listed = 0
  }

  #begin(): Promise<void> {
    const { spec } = this.#objects
    this.#subscription = this.#options.feed.subscribe(spec.prefix, this.#consumer)
    const listing = this.#newListing()
    this.#phase = { phase: 'filling', listing }
    listing.settleWith(
      listing.fill(this.#goLive).catch((error: unknown) => {
        listing.forget()
        if (error instanceof OutOfRoom) this.#options.ceiling.leaveOut(spec.prefix)
        if (!this.isClosed()) this.drop()
        this.#recordFailedFill(error)
        throw error
      }),
    )
    return listing.done
  }

  #newListing(): Listing {
    const { spec, range, counts } = this.#objects
    return new Listing({
      range,
      // Do not apply the memory limit while a resource is listed again. Its objects are then in
      // memory twice for a short time, and watchers must not lose their resource because of this.
      checkRoom: (loadedBytes) => {
        if (loadedBytes <= SMALL_BYTES || this.#phase.phase === 'behind') return
        if (this.#objects.watcherCount > 0 || this.#options.ceiling.hasRoom()) return
        throw new OutOfRoom(spec.name)
      },
      parts: this.#options,
      newItem: (found) => this.#objects.newItem(found),
      counts,
    })
  }

  /**
   * Records a list that failed because the KMS plugin does not respond, so that other readers do
   * not repeat the list immediately.
   */
  #recordFailedFill(error: unknown): void {
    if (!isCode(error, 'sealed')) return
    this.#failedFill = { error, untilMs: this.#options.time.monotonicMs() + FAILED_FILL_MS }
  }

  readonly #goLive = (loaded: LoadedObjects, since: readonly ItemEvent[]): void => {
    const { revision } = loaded
    this.#objects.replace(loaded, this.#phase.phase === 'filling')
    this.#listed = revision
    this.#failedFill = undefined
    this.#phase = { phase: 'live' }
    for (const event of since) {
      if (event.revision > revision) this.#objects.apply(event)
      else if (event.item !== undefined) this.#options.slabs.release(event.item)
    }
    this.#objects.onApplied()
  }

  /**
   * Called when the database was replaced. The next read lists the resource, and a list in progress
   * starts over.
   */
  #onReset(): void {
    this.#objects.closeWatchers('gap')
    if (this.#phase.phase === 'live') this.drop()
    if (!('listing' in this.#phase)) return
    this.#phase.listing.lose()
    this.#clear()
    this.#phase = { ...this.#phase, phase: 'filling' }
  }

  async #catchUp(listing: Listing): Promise<void> {
    const from = this.#listed
    const resource = this.#objects.spec.name
    for (let waitMs = RETRY_MIN_MS; !this.isClosed(); waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      try {
        await listing.fill(this.#goLive)
        this.#options.log('info', 'listed the resource again', { resource, from, to: this.#listed })
        return
      } catch (error) {
        listing.forget()
        const fields = { resource, error: String(error) }
        this.#options.log('warn', 'could not list the resource again; retrying', fields)
        await sleep(this.#options.time, waitMs)
      }
    }
  }

  #onEvents(events: readonly OpenedEvent[]): void {
    if (this.#phase.phase === 'idle' || this.#phase.phase === 'closed') return
    const objects = this.#objects
    objects.counts.received += events.length
    for (const event of events) {
      // Skip events that the list already includes. A list can be ahead of the event feed.
      if (event.revision <= this.#listed) continue
      const { key, revision, fault } = event
      const item = event.type === 'put' && fault === undefined ? objects.newItem(event) : undefined
      if (this.#phase.phase === 'live') objects.apply({ key, item, revision, fault })
      else if ('listing' in this.#phase)
        this.#phase.listing.setAside({ key, item, revision, fault })
    }
    objects.onApplied()
  }
}
