/**
 * Keeps the objects of one resource in step with the database, as client-go's Reflector does: it
 * lists them once when they are first read, and then follows the feed.
 *
 * `idle`: no objects. `filling`: the first list is under way. `live`: follows the feed. `behind`:
 * events were lost, the watchers were closed, a new list is under way; until it ends, the old state
 * is served only to readers that accept any revision up to it.
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
 * A resource up to this size is in memory whatever the ceiling says: what the server itself follows
 * (roles, webhooks, levels) is mostly smaller.
 */
const SMALL_BYTES = 1 << 20
/**
 * How long a resource whose values could not be decrypted is not listed again for another reader.
 */
const FAILED_FILL_MS = 1_000

/** The objects that a reflector keeps up to date. */
export type ReflectedObjects = {
  readonly spec: ResourceSpec
  readonly range: KeyRange
  readonly counts: ResourceCounts
  readonly watcherCount: number
  readonly newItem: (found: VersionedValue) => Item
  /** Replaces all objects by those of a list. `isFirst`: there were none. */
  readonly replace: (loaded: LoadedObjects, isFirst: boolean) => void
  readonly apply: (event: ItemEvent) => void
  /** Called after a batch of events was applied. */
  readonly onApplied: () => void
  /** The watchers may miss events from now on. */
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
  /** After a timeout, the waiting loop checks the time itself. */
  readonly #timeout: TimeoutOptions<void>
  readonly #consumer: FeedConsumer = {
    onEvents: (events) => this.#onEvents(events),
    onGap: () => this.listAgain(),
    onReset: () => this.#onReset(),
  }
  #failedFill: FailedFill | undefined
  #phase: Phase = { phase: 'idle' }
  #subscription: Subscription | undefined
  /** The revision of the last list; the feed's is used once it is higher. */
  #listed: Revision = 0

  constructor(objects: ReflectedObjects, options: CachedResourceOptions) {
    this.#objects = objects
    this.#options = options
    this.#timeout = { onTimeout: () => undefined, timers: options.time }
  }

  /** The objects and events include everything up to this revision. */
  get revision(): Revision {
    if (this.#phase.phase !== 'live' || this.#subscription === undefined) return this.#listed
    return Math.max(this.#listed, this.#subscription.revision)
  }

  get phase(): Phase['phase'] {
    return this.#phase.phase
  }

  /** A method: TypeScript would assume that a comparison still holds after an await. */
  isClosed(): boolean {
    return this.#phase.phase === 'closed'
  }

  /** Whether there are objects to serve, without waiting. */
  get isFilled(): boolean {
    return this.#phase.phase === 'live' || this.#phase.phase === 'behind'
  }

  /** Whether the objects did not fit into memory a while ago: they are read from the database. */
  get isLeftOut(): boolean {
    return (
      this.#phase.phase === 'idle' && this.#options.ceiling.leavesOut(this.#objects.spec.prefix)
    )
  }

  /**
   * Makes sure that there are objects to serve, unless it is closed. True if this call began the
   * list, which is then newer than the call.
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
   * True once it follows the feed; false if that takes too long, as it does without the database.
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

  /** True once the objects include everything up to this revision; false if that takes too long. */
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
   * Events were lost, or the objects differ from the database: they are listed again. What a
   * watcher has delivered is right, but the events that follow are lost: it is closed, and its
   * client resumes from the last revision it has seen. If the history after that is still
   * available, here or in the database, the client misses nothing; if not, it lists.
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

  /** Drops all objects. The next reader lists them again. */
  drop(): void {
    assert(this.#objects.watcherCount === 0, 'a watched resource is not dropped')
    this.#unsubscribe()
    this.#clear()
    this.#objects.spec.facts?.forgetWords()
    this.#phase = { phase: 'idle' }
  }

  /** Closes for good. `keepsBytes`: the whole cache is closed, so the slabs need not be tidied. */
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
      // Objects that are listed again are there twice for a moment, and watchers must not lose
      // their resource for it.
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

  /** While the KMS plugin does not answer, not every reader is to list the resource in vain. */
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
   * The objects are of another database: the next reader lists the resource, and a list under way
   * begins again.
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
        this.#options.log('info', 'resource listed again', { resource, from, to: this.#listed })
        return
      } catch (error) {
        listing.forget()
        const fields = { resource, error: String(error) }
        this.#options.log('warn', 'resource cannot be listed again yet', fields)
        await sleep(this.#options.time, waitMs)
      }
    }
  }

  #onEvents(events: readonly OpenedEvent[]): void {
    if (this.#phase.phase === 'idle' || this.#phase.phase === 'closed') return
    const objects = this.#objects
    objects.counts.received += events.length
    for (const event of events) {
      // A list can be ahead of the feed: events that it already includes are skipped.
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
