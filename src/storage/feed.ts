/**
 * One watch stream of all changes in the database, which all resources of the process share. The
 * event feed survives lost connections, hangs and compactions. In these cases it opens a new stream
 * after the last revision that each range received, on another member if the current one is silent.
 * All events up to `revision` have been delivered for every key. Events of single resources may
 * have been delivered beyond `revision`.
 */
import type { Clock } from '../lib/time/clock.ts'
import { assert } from '../lib/errors.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { sleep, systemTimers, type Time, type Timer, type Timers } from '../lib/time/timers.ts'
import type { Engine, FeedEvent, FeedStream, Key, Revision } from './engine.ts'
import { StorageError } from './errors.ts'
import { Prover } from './proof.ts'
import { planRanges } from './ranges.ts'
import { type FeedConsumer, Subscription } from './subscription.ts'
import { identity, type Transformer } from './transform.ts'

/**
 * A stream that is silent for this long, even though progress notifications are requested, is
 * replaced by a stream to the next member.
 */
export const SILENCE_MAX_MS = 5_000
/**
 * If a stream has been silent for this long, a progress notification is requested. Without this, a
 * working stream would be considered hung.
 */
const ASK_AFTER_MS = 1_000
const TICK_MS = 250
/**
 * Interval at which progress notifications are requested again while a reader waits for a revision.
 * etcd does not respond while a watch catches up.
 */
const ASK_AGAIN_MS = 20
/** Delay between attempts to open a stream. It doubles from RETRY_MIN_MS to RETRY_MAX_MS. */
const RETRY_MIN_MS = 20
const RETRY_MAX_MS = 1_000
/**
 * Maximum number of key prefixes without a subscription for which events are counted. The counts
 * determine how the keys are divided into ranges.
 */
const STRANGERS_MAX = 1_000
/**
 * Maximum number of segments in a resource's prefix below the root: `pods/`, `services/specs/`,
 * `example.com/widgets/`.
 */
const PREFIX_SEGMENTS_MAX = 2
/**
 * Maximum time for which a caller uses the response of a single call. After this time, nothing from
 * a replaced database is in use. A database call has a deadline of a few seconds, whatever
 * --request-timeout is, and a webhook call has one of 30 s. Callers that make many calls compare
 * `Feed.life` instead, which changes when the database is replaced.
 */
const REQUEST_MS_MAX = 60_000

type RangeState = { readonly from: Key; readonly to: Key; revision: Revision }

type State =
  | { readonly state: 'new' }
  | { readonly state: 'away' } // no stream is open
  | { readonly state: 'live'; readonly stream: FeedStream }
  | { readonly state: 'closed' }

/** Counters since the start of the event feed. */
export type FeedStats = {
  /**
   * Number of times that the latest revision was read from the database, so that reads are
   * consistent.
   */
  readonly proofs: number
  /**
   * Number of consistent reads that used a revision read from the database. Several reads can share
   * one revision.
   */
  readonly reads: number
  readonly events: number
  readonly reopenings: number
  /** Number of times that history was compacted before it had been delivered. */
  readonly losses: number
  /** Time for which the stream has been behind a revision that is known to be written. */
  readonly lagMs: number
}

export type FeedOptions = {
  readonly engine: Engine
  /** Decrypts the values of events. */
  readonly transformer?: Transformer
  readonly root: Key
  readonly log: Log
  readonly clock: Clock
  readonly timers?: Timers
}

export class Feed implements AsyncDisposable {
  readonly #engine: Engine
  readonly #transformer: Transformer
  readonly #root: Key
  readonly #log: Log
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #time: Time
  readonly #prover: Prover
  readonly #subscriptions = new Map<Key, Subscription>()
  readonly #waiting = new Set<Subscription>()
  readonly #strangers = new Map<Key, number>()
  readonly #counts = { proofs: 0, reads: 0, events: 0, reopenings: 0, losses: 0 }
  #ranges: RangeState[] = []
  #state: State = { state: 'new' }
  #revision: Revision = 0
  /** The latest revision that a linearizable read returned. The stream must reach it. */
  #proven: Revision = 0
  /** The revision of the latest write acknowledged to this process. */
  #acknowledged: Revision = 0
  #provenAtMs = 0
  /**
   * Whether the latest revision, when it was last read from the database, was higher than the
   * revision up to which the stream had delivered events.
   */
  #isMoving = false
  #openedAtMs = 0
  /** Time of the last message from the database on any stream. Opening a stream does not count. */
  #heardAtMs = 0
  #databaseId: string | undefined
  #life = 0
  #lifeSinceMs = Number.NEGATIVE_INFINITY
  /**
   * Revisions that belong to a replaced database: always those up to `until`, and those up to
   * `newest` until the current database has reached them.
   */
  #lost: { readonly until: Revision; readonly newest: Revision } = { until: 0, newest: 0 }
  #advancedAtMs = 0
  #askedAtMs = 0
  #retryMs = RETRY_MIN_MS
  #ticker: Timer | undefined
  #asker: Timer | undefined
  #retry: Timer | undefined
  #recent: Subscription | undefined
  /**
   * Whether events have arrived since the keys were divided into ranges. If there were none, for
   * example after failed attempts to connect, the same ranges are used again.
   */
  #hasNews = false

  constructor(options: FeedOptions) {
    this.#engine = options.engine
    this.#transformer = options.transformer ?? identity
    this.#root = options.root
    this.#log = options.log
    this.#clock = options.clock
    this.#timers = options.timers ?? systemTimers
    const { wallMs, monotonicMs } = options.clock
    this.#time = { wallMs, monotonicMs, ...this.#timers }
    this.#prover = new Prover(() => this.#ask(), this.#timers)
  }

  /**
   * Reads the latest revision and opens a stream after it. Rejects if the database cannot be
   * reached.
   */
  async start(signal?: AbortSignal): Promise<void> {
    assert(this.#state.state === 'new', 'a feed is started once')
    const revision = await this.#engine.latest({ signal })
    if (this.#isClosed()) throw new StorageError('unavailable', 'the feed is closed')
    this.#databaseId = this.#engine.databaseId
    this.#heardAtMs = this.#clock.monotonicMs()
    this.#revision = revision
    this.#ranges = planRanges(this.#root, new Map()).map((range) => ({ ...range, revision }))
    this.#open(false)
    this.#ticker = this.#timers.every(TICK_MS, () => this.#tick())
  }

  /** The revision up to which all events have been delivered. */
  get revision(): Revision {
    return this.#revision
  }

  get stats(): FeedStats {
    const isBehind = this.#proven > this.#revision
    return { ...this.#counts, lagMs: isBehind ? this.#clock.monotonicMs() - this.#provenAtMs : 0 }
  }

  /** Counter that is incremented each time the database is replaced by a different one. */
  get life(): number {
    return this.#life
  }

  /**
   * Whether enough time has passed since `life` changed, so that no caller still uses a response of
   * the previous database.
   */
  get isSettled(): boolean {
    return this.#clock.monotonicMs() >= this.#lifeSinceMs + REQUEST_MS_MAX
  }

  /** Whether the stream is open and the database has sent something recently. */
  get isLive(): boolean {
    return (
      this.#state.state === 'live' && this.#clock.monotonicMs() - this.#heardAtMs < SILENCE_MAX_MS
    )
  }

  /**
   * Subscribes the consumer to all events under the prefix. The consumer cancels the subscription
   * with `leave`.
   */
  subscribe(prefix: Key, consumer: FeedConsumer): Subscription {
    const subscription = this.#subscriptions.get(prefix) ?? this.#newSubscription(prefix)
    subscription.join(consumer)
    return subscription
  }

  #newSubscription(prefix: Key): Subscription {
    const subscription = new Subscription({
      prefix,
      revision: this.#rangeOf(prefix)?.revision ?? this.#revision,
      transformer: this.#transformer,
      time: this.#time,
      feedRevision: () => this.#revision,
      onWait: () => {
        this.#waiting.add(subscription)
        this.#askWhileWaiting()
      },
      onEnd: () => {
        this.#subscriptions.delete(prefix)
        this.#waiting.delete(subscription)
        if (this.#recent === subscription) this.#recent = undefined
      },
    })
    this.#subscriptions.set(prefix, subscription)
    return subscription
  }

  /**
   * Returns a revision that a consistent read must include. A subscription that has reached this
   * revision contains everything that was acknowledged before the call.
   */
  prove(): Promise<Revision> {
    this.#counts.reads++
    return this.#prover.prove()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const before = this.#state
    this.#state = { state: 'closed' }
    if (before.state === 'live') before.stream.close()
    for (const timer of [this.#ticker, this.#asker, this.#retry]) timer?.close()
    for (const subscription of this.#subscriptions.values()) subscription.giveUp()
  }

  /**
   * Records a revision that a caller got from its own linearizable read. The stream must also reach
   * this revision. `known` is the value of the property `known` when the read began. A lower
   * revision means that the database has been replaced.
   */
  recordRead(revision: Revision, known: Revision): void {
    this.#compare(revision, known)
    this.#recordProof(revision)
  }

  /**
   * The lowest revision that a linearizable read can return if it begins now and the database is
   * not replaced.
   */
  get known(): Revision {
    // Bounded: there are at most 16 ranges, so their revisions can be passed as arguments
    return Math.max(
      this.#revision,
      this.#proven,
      this.#acknowledged,
      ...this.#ranges.map((range) => range.revision),
    )
  }

  /**
   * Records the revision of a write that was acknowledged to this process. If the database later
   * has a lower revision, it has been replaced.
   */
  recordWrite(revision: Revision): void {
    this.#acknowledged = Math.max(this.#acknowledged, revision)
  }

  #recordProof(revision: Revision): void {
    if (revision <= this.#proven) return
    this.#proven = revision
    this.#provenAtMs = this.#clock.monotonicMs()
  }

  /**
   * Whether a revision belongs to a database that has been replaced. `current` is the revision of
   * the current database that the caller has reached.
   */
  isLost(revision: Revision, current: Revision): boolean {
    return revision <= this.#lost.until || (revision > current && revision <= this.#lost.newest)
  }

  /**
   * Reads the latest revision from the database, so that reads are consistent. While there are
   * writes, also requests a progress notification, so that both responses arrive together. Without
   * writes, the stream has already reached the revision.
   */
  async #ask(): Promise<Revision> {
    const reported = this.#revision
    const { known } = this
    this.#counts.proofs++
    if (this.#isMoving) this.#requestProgress()
    const proven = await this.#engine.latest()
    this.#isMoving = proven > reported
    this.#compare(proven, known)
    this.#recordProof(proven)
    return proven
  }

  /**
   * Detects that the database was replaced. A linearizable read then returns another cluster ID. If
   * an older backup was restored, it returns a revision below the one known before the read. The
   * same revisions of such a database denote other changes, so all known state must be discarded. A
   * member that lags behind the others never returns an old revision for a linearizable read. Its
   * watch stream may do so, and is therefore not compared.
   */
  #compare(latest: Revision, known: Revision): void {
    const { databaseId } = this.#engine
    const isOther = this.#databaseId !== undefined && databaseId !== this.#databaseId
    this.#databaseId = databaseId
    if (!isOther && latest >= known) return
    // A restored backup has the same history as the lost database up to some revision. Another
    // cluster has a different history.
    const until = isOther ? Math.min(known, latest - 1) : 0
    this.#lost = {
      until: Math.max(this.#lost.until, until),
      newest: Math.max(this.#lost.newest, known),
    }
    this.#startOver(latest, known)
  }

  #startOver(latest: Revision, known: Revision): void {
    if (this.#state.state === 'closed') return
    this.#log(
      'error',
      'the database was replaced or restored from an older backup; reloading everything',
      {
        known,
        latest,
      },
    )
    this.#life++
    this.#lifeSinceMs = this.#clock.monotonicMs()
    this.#revision = latest
    this.#proven = latest
    this.#acknowledged = latest
    for (const range of this.#ranges) range.revision = latest
    for (const subscription of this.#subscriptions.values()) subscription.emitReset(latest)
    // Replace the open stream. If no stream is open, the event feed already tries to open one.
    if (this.#state.state !== 'live') return
    const { stream } = this.#state
    this.#state = { state: 'away' }
    stream.close()
    this.#open(false)
  }

  #open(away: boolean): void {
    this.#ranges = this.#plan()
    const mine = (): boolean => this.#state.state === 'live' && this.#state.stream === stream
    const stream = this.#engine.openFeed(
      this.#ranges.map(({ from, to, revision }) => ({ from, to, after: revision })),
      {
        onEvents: (range, events) => mine() && this.#onEvents(range, events),
        onProgress: (revision) => mine() && this.#onProgress(revision),
        onCompacted: (_, oldest) => mine() && this.#onCompacted(oldest),
        onEnd: (cause) =>
          mine() && this.#reopen(`the stream ended: ${cause?.message ?? 'closed'}`, true),
      },
      { away },
    )
    this.#state = { state: 'live', stream }
    this.#openedAtMs = this.#clock.monotonicMs()
    this.#advancedAtMs = this.#openedAtMs
    this.#requestProgress()
  }

  /**
   * Divides the keys into new ranges, based on the number of events so far. Each new range starts
   * at the lowest revision of the old ranges that it overlaps.
   */
  #plan(): RangeState[] {
    if (!this.#hasNews) return this.#ranges
    this.#hasNews = false
    const traffic = new Map(this.#strangers)
    for (const [prefix, subscription] of this.#subscriptions)
      traffic.set(prefix, subscription.takeTraffic())
    for (const [prefix, events] of this.#strangers) this.#strangers.set(prefix, events >> 1)
    return planRanges(this.#root, traffic).map(({ from, to }) => {
      // Bounded: there are at most 16 ranges, so filtering them is fast
      const under = this.#ranges.filter((old) => old.from < to && from < old.to)
      // Bounded: there are at most 16 ranges, so their revisions can be passed as arguments
      return { from, to, revision: Math.min(...under.map((old) => old.revision)) }
    })
  }

  #reopen(why: string, away: boolean): void {
    if (this.#state.state !== 'live') return
    const { stream } = this.#state
    this.#state = { state: 'away' }
    stream.close()
    this.#counts.reopenings++
    this.#log('warn', 'feed interrupted', { why, revision: this.#revision })
    this.#retry = this.#timers.after(this.#retryMs, () => {
      if (this.#state.state !== 'away') return
      this.#open(away)
      // Read the latest revision, because the database may have been replaced during the
      // interruption. A stream of the new database could stay silent, so that only the revision
      // shows the replacement.
      this.prove().catch((error: unknown) =>
        this.#log('debug', 'the database does not respond', { error: String(error) }),
      )
    })
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MAX_MS)
  }

  #onEvents(index: number, events: readonly FeedEvent[]): void {
    const range = this.#ranges[index]
    const last = events.at(-1)
    assert(range !== undefined && last !== undefined, 'events belong to a range')
    this.#recordContact()
    this.#counts.events += events.length
    this.#hasNews = true
    for (let i = 0; i < events.length; ) i = this.#deliver(events, i)
    if (last.revision <= range.revision) return
    range.revision = last.revision
    this.#advancedAtMs = this.#heardAtMs
  }

  /**
   * Delivers consecutive events of one resource, beginning at `start`. Returns the index after the
   * last of them.
   */
  #deliver(events: readonly FeedEvent[], start: number): number {
    const subscription = this.#route(events[start]?.key ?? '')
    if (subscription === undefined) return start + 1
    let end = start + 1
    while (events[end]?.key.startsWith(subscription.prefix)) end++
    subscription.emit(start === 0 && end === events.length ? events : events.slice(start, end))
    return end
  }

  #route(key: Key): Subscription | undefined {
    if (this.#recent !== undefined && key.startsWith(this.#recent.prefix)) return this.#recent
    let slash = this.#root.length - 1
    for (let i = 0; i < PREFIX_SEGMENTS_MAX; i++) {
      slash = key.indexOf('/', slash + 1)
      if (slash < 0) return undefined
      const subscription = this.#subscriptions.get(key.slice(0, slash + 1))
      if (subscription !== undefined) {
        this.#recent = subscription
        return subscription
      }
    }
    this.#countStranger(key)
    return undefined
  }

  #countStranger(key: Key): void {
    const prefix = key.slice(0, key.indexOf('/', this.#root.length) + 1)
    const events = this.#strangers.get(prefix)
    if (events !== undefined || this.#strangers.size < STRANGERS_MAX)
      this.#strangers.set(prefix, (events ?? 0) + 1)
  }

  #onProgress(revision: Revision): void {
    this.#recordContact()
    this.#askedAtMs = 0
    if (revision <= this.#revision) return
    this.#revision = revision
    this.#advancedAtMs = this.#heardAtMs
    for (const range of this.#ranges) range.revision = Math.max(range.revision, revision)
    for (const subscription of this.#waiting) subscription.settle()
  }

  /**
   * Handles a compaction of history that a range still needed. The resources of the range are
   * listed again; the other ranges continue from where they were.
   */
  #onCompacted(oldest: Revision): void {
    const lost = this.#ranges.filter((range) => range.revision < oldest)
    this.#reopenAfter(lost).catch((error: unknown) => {
      this.#log('error', 'cannot continue to receive events from the database after a compaction', {
        error: String(error),
      })
    })
  }

  async #reopenAfter(lost: readonly RangeState[]): Promise<void> {
    if (this.#state.state !== 'live') return
    const { stream } = this.#state
    this.#state = { state: 'away' }
    stream.close()
    this.#counts.losses++
    this.#log('warn', 'events were compacted before they arrived; listing resources again', {
      ranges: lost.length,
      revision: this.#revision,
    })
    const { known } = this
    const latest = await this.#latestWithRetry()
    if (latest === undefined || !this.#isAway()) return
    this.#compare(latest, known)
    for (const range of lost) range.revision = latest
    for (const subscription of this.#subscriptions.values()) {
      // Bounded: there are at most 16 ranges, so each search is short
      if (
        lost.some((range) => range.from <= subscription.prefix && subscription.prefix < range.to)
      ) {
        subscription.emitGap(latest)
      }
    }
    this.#open(false)
  }

  async #latestWithRetry(): Promise<Revision | undefined> {
    for (let waitMs = RETRY_MIN_MS; this.#isAway(); waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      try {
        return await this.#engine.latest()
      } catch (error) {
        this.#log('warn', 'the database does not respond', { error: String(error) })
        await sleep(this.#timers, waitMs)
      }
    }
    return undefined
  }

  /**
   * Whether the event feed is closed. `#isClosed` and `#isAway` are methods, because TypeScript
   * would assume that a compared property keeps its value across an await.
   */
  #isClosed(): boolean {
    return this.#state.state === 'closed'
  }

  #isAway(): boolean {
    return this.#state.state === 'away'
  }

  #recordContact(): void {
    this.#heardAtMs = this.#clock.monotonicMs()
    this.#retryMs = RETRY_MIN_MS
  }

  #tick(): void {
    if (this.#state.state !== 'live') return
    const now = this.#clock.monotonicMs()
    const silentMs = now - Math.max(this.#heardAtMs, this.#openedAtMs)
    if (silentMs > SILENCE_MAX_MS) {
      this.#reopen('the stream is silent', true)
      return
    }
    // A member that is partitioned from the others may repeat the same revision in its responses to
    // progress requests.
    const stuckMs = now - Math.max(this.#advancedAtMs, this.#provenAtMs)
    if (this.#proven > this.#revision && stuckMs > SILENCE_MAX_MS) {
      this.#reopen('the stream does not reach a proven revision', true)
      return
    }
    if (silentMs > ASK_AFTER_MS || this.#proven > this.#revision) this.#requestProgress()
  }

  #requestProgress(): void {
    if (this.#state.state !== 'live') return
    const now = this.#clock.monotonicMs()
    if (now - this.#askedAtMs < ASK_AGAIN_MS) return
    this.#askedAtMs = now
    this.#state.stream.requestProgress()
  }

  #askWhileWaiting(): void {
    this.#requestProgress()
    if (this.#asker !== undefined) return
    this.#asker = this.#timers.after(ASK_AGAIN_MS, () => {
      this.#asker = undefined
      for (const subscription of this.#waiting) {
        if (!subscription.isWaiting) this.#waiting.delete(subscription)
      }
      if (this.#waiting.size > 0) this.#askWhileWaiting()
    })
  }

  #rangeOf(key: Key): RangeState | undefined {
    return this.#ranges.find((range) => range.from <= key && key < range.to)
  }
}
