/**
 * An engine that stores everything in memory and follows etcd's rules: this engine and the one for
 * etcd pass the tests in test/contract. It is used for in-memory clusters, tests and simulations,
 * which can supply a clock. Besides the Engine interface, it has the operations that an operator
 * applies to etcd: compaction, pause, backup and restore. It also has operations that are only
 * possible in memory: `state`, `from` and `rewind`. The cost of the first two does not depend on
 * the number of objects.
 */
import { systemTime, type Time, type Timer } from '../../lib/time/timers.ts'
import type {
  CallOptions,
  ConditionalWrite,
  Engine,
  FeedStreamOptions,
  FeedRange,
  FeedListener,
  FeedStream,
  RangeResult,
  Key,
  Outcome,
  RangeQuery,
  Revision,
  VersionedValue,
} from '../engine.ts'
import { StorageError } from '../errors.ts'
import { CALL_TIMEOUT_MS, grantedSeconds, keyMissing, LEASES_EVERY_MS } from '../etcd-rules.ts'
import { type Commit, LocalFeedStream } from '../local-feed-stream.ts'
import { MemoryDatabase, type RewindOptions, type Snapshot } from './database.ts'

export type MemoryEngineOptions = {
  readonly time?: Time
  /**
   * Called for each revision before its writer gets the response. A test can use it to record a
   * history that is never compacted.
   */
  readonly onCommit?: (commit: Commit) => void
}

/**
 * The content of an engine at a point in time. Sharing it is cheap, because both sides copy only
 * what they change.
 */
export type EngineState = {
  readonly snapshot: Snapshot
  /** The remaining time to live of each lease. */
  readonly leftMs: ReadonlyMap<bigint, number>
  readonly lastLease: bigint
}

export class MemoryEngine implements Engine {
  readonly #time: Time
  readonly #observe: (commit: Commit) => void
  readonly #database: MemoryDatabase
  readonly #feeds = new Set<LocalFeedStream>()
  readonly #deadlines = new Map<bigint, number>()
  /** Calls that wait until the database is resumed. */
  readonly #waiting = new Set<() => void>()
  #leaseTicker: Timer | undefined
  #lastLease = 0n
  #isPaused = false
  /** Incremented when the database is restored or closed. Calls that began earlier then fail. */
  #life = 0
  #isClosed = false

  constructor({ time = systemTime, onCommit = () => undefined }: MemoryEngineOptions = {}) {
    this.#time = time
    this.#observe = onCommit
    this.#database = new MemoryDatabase(time, (commit) => this.#onCommit(commit))
  }

  async range(query: RangeQuery, options: CallOptions = {}): Promise<RangeResult> {
    if (query.from === '') throw keyMissing()
    return this.#call(options, false, () => this.#database.range(query))
  }

  change(change: ConditionalWrite, options: CallOptions = {}): Promise<Outcome> {
    return this.#call(options, true, () => this.#database.change(change))
  }

  latest(options: CallOptions = {}): Promise<Revision> {
    return this.#call(options, false, () => this.#database.revision)
  }

  openFeed(
    ranges: readonly FeedRange[],
    sink: FeedListener,
    options: FeedStreamOptions = {},
  ): FeedStream {
    const feed = new LocalFeedStream({
      ...options,
      ranges,
      sink,
      source: this.#database,
      timers: this.#time,
      isPaused: () => this.#isPaused,
      onClosed: (closed) => this.#feeds.delete(closed),
    })
    this.#feeds.add(feed)
    if (this.#isClosed) this.#time.defer(() => feed.end(closed()))
    return feed
  }

  async grantLease(ttlSeconds: number, options: CallOptions = {}): Promise<bigint> {
    const seconds = grantedSeconds(ttlSeconds)
    return await this.#call(options, false, () => {
      const id = ++this.#lastLease
      this.#database.grant(id, seconds)
      this.#startLease(id, seconds * 1000)
      return id
    })
  }

  /**
   * Compacts history. Rejects with etcd's error if the revision has already been compacted or does
   * not exist yet.
   */
  compact(revision: Revision): void {
    this.#database.compact(revision)
  }

  /** Ends a lease immediately and deletes its keys. */
  revokeLease(id: bigint): void {
    this.#deadlines.delete(id)
    this.#database.revoke(id)
  }

  /** Stops responding, like a process that has received SIGSTOP: calls and event feeds hang. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    for (const go of this.#waiting) go()
    this.#waiting.clear()
    for (const feed of this.#feeds) feed.schedule()
  }

  snapshot(): Snapshot {
    return this.#database.snapshot()
  }

  /** Returns the current state, which can be passed to `from` and `rewind`. */
  state(): EngineState {
    const now = this.#time.monotonicMs()
    const leftMs = new Map([...this.#deadlines].map(([id, deadline]) => [id, deadline - now]))
    return { snapshot: this.#database.currentSnapshot(), leftMs, lastLease: this.#lastLease }
  }

  /**
   * Creates an engine that begins with the state of another one, at the same revision. Later
   * changes of either engine are not visible in the other.
   */
  static from(
    { snapshot, leftMs, lastLease }: EngineState,
    options: MemoryEngineOptions = {},
  ): MemoryEngine {
    const engine = new MemoryEngine(options)
    engine.#database.restore(snapshot)
    engine.#lastLease = lastLease
    for (const [id, ms] of leftMs) engine.#startLease(id, ms)
    return engine
  }

  /**
   * Writes until the state equals an earlier one, except for keys that `isKept` accepts. Each lease
   * gets the remaining time that it had in that state. Runs in one tick of the event loop
   * (MemoryDatabase.rewind).
   */
  rewind({ snapshot, leftMs }: EngineState, options: RewindOptions): void {
    for (const [id, ms] of leftMs) {
      if (!this.#deadlines.has(id)) this.#database.grant(id, ms / 1000)
      this.#startLease(id, ms)
    }
    this.#database.rewind(snapshot, options)
  }

  /** Returns one value, at the latest or the given revision. It is synchronous, unlike `range`. */
  peek(key: Key, revision?: Revision): VersionedValue | undefined {
    return this.#database.get(key, revision)
  }

  /** Returns the keys with a prefix, in order. It is synchronous, unlike `range`. */
  keysIn(prefix: string): Key[] {
    return this.#database.keysIn(prefix)
  }

  /** Ends the leases that have expired because a test advanced the clock. */
  endDueLeases(): void {
    this.#endLeases()
  }

  /**
   * Replaces the database, like an etcd that is restored from a backup. Event feeds end, and calls
   * in progress fail.
   */
  restore(snapshot: Snapshot): void {
    this.#life++
    for (const feed of this.#feeds)
      feed.end(new StorageError('unavailable', 'the database was restored'))
    this.#database.restore(snapshot)
    this.#deadlines.clear()
    for (const { id, ttlSeconds } of this.#database.leases())
      this.#startLease(id, ttlSeconds * 1000)
  }

  /** Returns statistics of the database, for tests. */
  stats(): {
    readonly keys: number
    readonly feeds: number
    readonly leases: number
    readonly revision: Revision
    readonly historyBytes: number
  } {
    const { keys, revision, historyBytes } = this.#database
    return { keys, revision, historyBytes, feeds: this.#feeds.size, leases: this.#deadlines.size }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#life++
    this.#leaseTicker?.close()
    for (const feed of this.#feeds) feed.end(closed())
    this.resume()
  }

  /**
   * Runs the call immediately, or when the database is resumed. The response is asynchronous, but
   * in the same tick of the event loop if possible. Otherwise a small read would have to wait for
   * the work of two ticks.
   */
  async #call<T>(options: CallOptions, isWrite: boolean, act: () => T | Promise<T>): Promise<T> {
    const { signal } = options
    if (signal?.aborted) throw cancelled(signal, false)
    if (this.#isPaused) await this.#untilResumed(options, isWrite)
    if (this.#isClosed) throw closed()
    const life = this.#life
    const answer = await act()
    await new Promise<void>((resolve) => this.#time.defer(resolve, 'answer'))
    if (signal?.aborted) throw cancelled(signal, isWrite)
    if (life !== this.#life) {
      throw new StorageError('unavailable', 'the database was restored or closed meanwhile', {
        ambiguous: isWrite,
      })
    }
    return answer
  }

  #untilResumed(
    { signal, timeoutMs = CALL_TIMEOUT_MS }: CallOptions,
    isWrite: boolean,
  ): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const fail = (error: StorageError): void => {
      leave()
      reject(error)
    }
    const timer = this.#time.after(timeoutMs, () => {
      fail(
        new StorageError('unavailable', `no answer within ${timeoutMs} ms`, { ambiguous: isWrite }),
      )
    })
    const onAbort = (): void => fail(cancelled(signal, isWrite))
    const go = (): void => {
      leave()
      resolve()
    }
    const leave = (): void => {
      this.#waiting.delete(go)
      timer.close()
      signal?.removeEventListener('abort', onAbort)
    }
    this.#waiting.add(go)
    signal?.addEventListener('abort', onAbort)
    return promise
  }

  #onCommit(commit: Commit): void {
    this.#observe(commit)
    for (const feed of this.#feeds) feed.commit(commit)
  }

  #startLease(id: bigint, ms: number): void {
    this.#deadlines.set(id, this.#time.monotonicMs() + ms)
    this.#leaseTicker ??= this.#time.every(LEASES_EVERY_MS, () => this.#endLeases())
  }

  #endLeases(): void {
    if (this.#isPaused) return
    const now = this.#time.monotonicMs()
    for (const [id, deadline] of this.#deadlines) if (deadline <= now) this.revokeLease(id)
    if (this.#deadlines.size > 0) return
    this.#leaseTicker?.close()
    this.#leaseTicker = undefined
  }
}

const cancelled = (signal: AbortSignal | undefined, ambiguous: boolean): StorageError =>
  new StorageError('cancelled', 'the caller cancelled', { cause: signal?.reason, ambiguous })

const closed = (): StorageError => new StorageError('unavailable', 'the database is closed')
