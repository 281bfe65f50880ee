/**
 * Stores objects as bytes under keys, with optimistic concurrency control. Every write is one
 * transaction, which compares the revision on which the caller's decision is based. If another
 * writer was faster, the decision function runs again.
 *
 * A decision can be based on a cached object, which may be outdated. A write based on cached state
 * is final only if its comparison succeeds. If the decision function throws an error or decides
 * that nothing changes, it runs again with the state from the database. Only the second result is
 * returned.
 */
import { systemClock } from '../lib/time/clock.ts'
import { Deque } from '../lib/collections/deque.ts'
import { assert } from '../lib/errors.ts'
import { KeyedMutex } from '../lib/concurrency/keyed-mutex.ts'
import { Slices } from '../lib/scheduling/slices.ts'
import { sleep, systemTimers, type Timers } from '../lib/time/timers.ts'
import type {
  CallOptions,
  Engine,
  Key,
  KeyRevision,
  Outcome,
  Revision,
  VersionedValue,
} from './engine.ts'
import { isCode, StorageError } from './errors.ts'
import { type KeyRange, keyAfter, rangeOfKey, toText } from './keys.ts'
import type { Leases } from './leases.ts'
import { PageSize } from './page-size.ts'
import type { Plain, Transformer } from './transform.ts'

/**
 * Number of lost comparisons after which a write fails. With 20 concurrent writers, a writer loses
 * about 20 times. A writer that loses more often than this should not make its client wait longer.
 */
const LOST_COMPARES_MAX = 100
/** Number of retries without a delay. Each loss means that another writer has succeeded. */
const PROMPT_RETRIES = 4
/**
 * Minimum delay before later retries. Delays double up to BACKOFF_MS_MAX. The actual delay is a
 * random time between half of this and all of it.
 */
const BACKOFF_MS_FIRST = 2
/**
 * Maximum time for which a writer delays other writers of its key. A writer may take longer, for
 * example if it waits for a webhook that writes the same key.
 */
const LOCK_MS_MAX = 2000
const BACKOFF_MS_MAX = 64

/** Maximum number of values in a list that wait for a KMS plugin at the same time. */
const ASKED_AT_ONCE = 128
/**
 * Like ASKED_AT_ONCE, but for lists that no client waits for. It is smaller, because the KMS plugin
 * must also serve other requests.
 */
const ASKED_IN_BACKGROUND = 4

/** A decrypted value, as the server wrote it. */
export type StoredValue = {
  readonly key: Key
  /** A view of received bytes. Callers must copy it to retain it. */
  readonly value: Buffer
  readonly revision: Revision
  readonly createRevision: Revision
  /**
   * Whether the value is not encrypted with the current key. Even an update that changes nothing
   * then writes the value again.
   */
  readonly stale: boolean
}

/** The object on which a decision is based, and its revision. */
export type Current<T> = {
  readonly revision: Revision
  readonly createRevision: Revision
  readonly object: T
  readonly stale: boolean
}

/**
 * The result of a decision: either a write, or a string which says that the object does not change.
 * In a write, `ttlSeconds` overrides the time to live in the options. A stale value is one that is
 * not encrypted with the current key. With 'unchanged', a stale value is nevertheless written
 * again; with 'untouched', it is not.
 *
 * `unchanged` names other keys on which a put depends. If one of them has changed, nothing is
 * written and the decision is made again.
 */
export type Decision = Write | 'unchanged' | 'untouched'

type Write =
  | {
      readonly put: Buffer
      readonly ttlSeconds?: number
      readonly unchanged?: readonly KeyRevision[] | undefined
    }
  | 'delete'

type ReadOptions = {
  readonly revision?: Revision | undefined
  readonly signal?: AbortSignal | undefined
}

type WriteOptions = {
  /** Time to live of the value. If undefined or 0, the value does not expire. */
  readonly ttlSeconds?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export type CreateOptions = WriteOptions & {
  /** Other keys on which the write depends. It takes effect only if none of them has changed. */
  readonly unchanged?: readonly KeyRevision[] | undefined
}

export type UpdateOptions<T> = WriteOptions & {
  /**
   * The cached state, or 'absent' if the object is not in the cache. If undefined, the latest state
   * is read first.
   */
  readonly cached?: Current<T> | 'absent' | undefined
  /**
   * Returns true if the key certainly still has this revision. Used by callers that can check this
   * faster than the store can with a read.
   */
  readonly isStill?: ((revision: Revision) => Promise<boolean>) | undefined
  /**
   * Decodes a value. For a large value, returns a promise and decodes the value in parts, so that
   * other requests are served in between.
   */
  readonly decode: (stored: StoredValue) => T | Promise<T>
}

export type UpdateResult<T> = {
  readonly outcome: 'put' | 'deleted' | 'unchanged'
  /** The revision of the write. If the outcome is 'unchanged', the revision of the object. */
  readonly revision: Revision
  /** The state that was replaced, deleted or left unchanged. Undefined if the key did not exist. */
  readonly previous: Current<T> | undefined
}

export type DeleteResult<T> = { readonly revision: Revision; readonly previous: Current<T> }

type ListOptions = ReadOptions & {
  readonly limit?: number | undefined
  /** Lists only keys that sort after this one. */
  readonly after?: Key | undefined
  /**
   * Whether values that cannot be read are returned in `unreadable`. By default, the list fails if
   * it contains such a value.
   */
  readonly setsAsideUnreadable?: boolean
  /** Whether all clients of the resource wait for the list (lib/scheduling/slices.ts). */
  readonly isShared?: boolean
  /** Whether the list runs in the background, so that no client waits for it. */
  readonly isBackground?: boolean
}

export type WalkOptions = ReadOptions & {
  readonly setsAsideUnreadable?: boolean
  readonly isShared?: boolean
  readonly isBackground?: boolean
  /** Reads each page at the latest revision, for callers that do not need a consistent range. */
  readonly isEachLatest?: boolean
  /** The approximate size of a page (see PageSize). */
  readonly pageBytes?: number | undefined
  /**
   * Average size of a row when the range was last read. The row limit of the first page is derived
   * from it.
   */
  readonly rowBytes?: number | undefined
  /** Requests the next page while the caller processes one, for callers that read all pages. */
  readonly readsAhead?: boolean
}

/** A value that cannot be read, and will not become readable. */
export type UnreadableValue = {
  readonly key: Key
  readonly revision: Revision
  /** An error with the code 'corrupt'. Its message does not contain the key. */
  readonly error: StorageError
}

export type Page = {
  /**
   * The revision of the list. Later pages are consistent with this page if they are read at the
   * same revision.
   */
  readonly revision: Revision
  readonly values: readonly StoredValue[]
  /** Empty unless the caller set `setsAsideUnreadable`. */
  readonly unreadable: readonly UnreadableValue[]
  /** The last key of the page, even if its value cannot be read. */
  readonly last: Key | undefined
  readonly more: boolean
  /** Number of keys after this page. */
  readonly remaining: number
}

export type StoreOptions = {
  readonly transformer: Transformer
  readonly leases: Leases
  /** Returns a number from 0 to 1, for the jitter of retries. */
  readonly random?: () => number
  readonly timers?: Timers
  readonly monotonicMs?: () => number
}

/** The state that a decision is based on, and whether the database has confirmed it. */
type Basis<T> = {
  readonly current: Current<T> | undefined
  /** The stored bytes of `current`, if they were read from the database. */
  readonly value: Buffer | undefined
  /** The revision of the read. It is returned for 'unchanged' if the key does not exist. */
  readonly revision: Revision
  readonly isProven: boolean
}

/** The state of one key in the database, and the revision of the read. */
type LookupResult = { readonly entry: VersionedValue | undefined; readonly revision: Revision }

/** The part of the store that reads and writes single objects. */
export type ObjectStore = Pick<Store, 'get' | 'create' | 'update' | 'deleteUnreadable'>

export class Store {
  readonly #engine: Engine
  readonly #transformer: Transformer
  readonly #leases: Leases
  readonly #random: () => number
  /** Queues of writers that have lost a comparison, by key. */
  readonly #keyMutex: KeyedMutex
  readonly #timers: Timers
  readonly #monotonicMs: () => number

  constructor(engine: Engine, options: StoreOptions) {
    this.#engine = engine
    this.#transformer = options.transformer
    this.#leases = options.leases
    this.#random = options.random ?? Math.random
    this.#timers = options.timers ?? systemTimers
    this.#monotonicMs = options.monotonicMs ?? systemClock.monotonicMs
    this.#keyMutex = new KeyedMutex(LOCK_MS_MAX, this.#timers)
  }

  /**
   * Returns the state of a key at a revision. By default, returns the latest state (a linearizable
   * read).
   */
  async get(
    key: Key,
    options: ReadOptions = {},
  ): Promise<{ revision: Revision; found: StoredValue | undefined }> {
    const answer = await this.#engine.range(
      { ...rangeOfKey(key), ...at(options.revision), limit: 1 },
      options,
    )
    const first = answer.values[0]
    return { revision: answer.revision, found: first && (await this.#read(first)) }
  }

  /**
   * Writes a new key. Rejects with 'exists' if the key already exists, and with 'conflict' if a key
   * in `unchanged` has changed.
   */
  async create(key: Key, value: Buffer, options: CreateOptions = {}): Promise<Revision> {
    const { ttlSeconds, unchanged } = options
    const put = { expected: 0, value, ttlSeconds, unchanged }
    const outcome = await this.#put(key, put, options)
    if (outcome.won) return outcome.revision
    if (unchanged !== undefined && outcome.current === undefined)
      throw new StorageError('conflict', 'an object on which the new one depends has changed')
    throw new StorageError('exists', 'the key already exists')
  }

  /**
   * Changes one key according to a decision on its current state, which is undefined if the key
   * does not exist. `decide` may be called several times, each time with a different state. If it
   * throws, the error is rethrown only if it was thrown for the latest state. Rejects with
   * 'missing' if the decision is to delete a key that does not exist. Rejects with 'conflict' if
   * other writers were faster too many times.
   */
  async update<T>(
    key: Key,
    options: UpdateOptions<T>,
    decide: (current: Current<T> | undefined) => Decision | Promise<Decision>,
  ): Promise<UpdateResult<T>> {
    using lock = new DisposableStack()
    let basis =
      startOf(options.cached) ??
      (await this.#proven(await this.#found(key, options), options.decode))
    for (let lost = 0; lost < LOST_COMPARES_MAX; lost++) {
      if (lost > PROMPT_RETRIES) await this.#backOff(lost - PROMPT_RETRIES, options.signal)
      const attempt = await decideOn(basis, decide)
      let { decision } = attempt
      if (!attempt.isFinal) {
        const proven = await this.#proof(key, basis, options)
        const isSame =
          proven.current !== undefined && proven.current.revision === basis.current?.revision
        basis = proven
        if (isSame && attempt.error !== undefined) throw attempt.error
        if (!isSame || decision === undefined) decision = await decide(basis.current)
      }
      assert(decision !== undefined, 'there is a decision, or an error was thrown')
      const { current } = basis
      const write = writeOf(decision, basis)
      if (write === 'unchanged') {
        return {
          outcome: 'unchanged',
          revision: current?.revision ?? basis.revision,
          previous: current,
        }
      }
      const expected = current?.revision ?? 0
      const outcome =
        write === 'delete'
          ? await this.#engine.change({ key, expected, write }, options)
          : await this.#put(
              key,
              {
                expected,
                value: write.put,
                ttlSeconds: write.ttlSeconds ?? options.ttlSeconds,
                unchanged: write.unchanged,
              },
              options,
            )
      if (outcome.won) {
        return {
          outcome: write === 'delete' ? 'deleted' : 'put',
          revision: outcome.revision,
          previous: current,
        }
      }
      // If all writers that lost the comparison retried at once, one would win and all others would
      // lose again, each time. Therefore they wait in a queue.
      const isLate = lost === 0 && lock.use(await this.#keyMutex.lock(toText(key))).hasWaited
      const found = isLate
        ? await this.#found(key, options)
        : { entry: outcome.current, revision: outcome.revision }
      basis = await this.#proven(found, options.decode)
    }
    throw new StorageError('conflict', 'the object was changed by others at every attempt')
  }

  /**
   * Deletes a key unless `check` throws for its latest state. Rejects with 'missing' if the key
   * does not exist.
   */
  async delete<T>(
    key: Key,
    options: UpdateOptions<T>,
    check: (current: Current<T>) => void | Promise<void> = () => undefined,
  ): Promise<DeleteResult<T>> {
    const { revision, previous } = await this.update(
      key,
      options,
      async (current): Promise<Decision> => {
        if (current !== undefined) await check(current)
        return 'delete'
      },
    )
    if (previous === undefined) throw missing()
    return { revision, previous }
  }

  /**
   * Deletes a value that cannot be decoded or decrypted. Returns false if the value can be read or
   * the key does not exist.
   */
  async deleteUnreadable(
    key: Key,
    decode: (stored: StoredValue) => unknown,
    options: CallOptions = {},
  ): Promise<boolean> {
    const { entry } = await this.#found(key, options)
    if (entry === undefined || (await this.#isReadable(entry, decode))) return false
    const { won } = await this.#engine.change(
      { key, expected: entry.revision, write: 'delete' },
      options,
    )
    if (!won) throw new StorageError('conflict', 'the object was changed by others')
    return true
  }

  async #isReadable(
    entry: VersionedValue,
    decode: (stored: StoredValue) => unknown,
  ): Promise<boolean> {
    try {
      decode(await this.#read(entry))
      return true
    } catch (error) {
      if (!isCode(error, 'corrupt')) throw error
      return false
    }
  }

  /** Counts the keys in a range. */
  async count(
    range: KeyRange,
    options: ReadOptions = {},
  ): Promise<{ revision: Revision; count: number }> {
    const { revision, count } = await this.#engine.range(
      { from: range.from, to: range.to, ...at(options.revision), countOnly: true },
      options,
    )
    return { revision, count }
  }

  /**
   * Lists a range. As in kube-apiserver, the whole list fails if one value is unreadable, because a
   * list must not silently omit an object. With `setsAsideUnreadable`, the unreadable values are
   * returned separately.
   */
  async list(range: KeyRange, options: ListOptions = {}): Promise<Page> {
    const from = options.after === undefined ? range.from : keyAfter(options.after)
    const limit = options.limit ?? 0
    const found = await this.#engine.range(
      { from, to: range.to, ...at(options.revision), limit },
      options,
    )
    const { revision, more, count } = found
    const opened = await this.#openAll(found.values, options)
    return {
      revision,
      ...opened,
      last: found.values.at(-1)?.key,
      more,
      remaining: count - found.values.length,
    }
  }

  async #openAll(
    entries: readonly VersionedValue[],
    { setsAsideUnreadable = false, isShared = false, isBackground = false }: ListOptions,
  ): Promise<{ readonly values: StoredValue[]; readonly unreadable: UnreadableValue[] }> {
    const values: StoredValue[] = []
    const unreadable: UnreadableValue[] = []
    const keep = (entry: VersionedValue, plain: OpenResult): void => {
      if (!(plain instanceof StorageError)) values.push(toStored(entry, plain))
      else unreadable.push({ key: entry.key, revision: entry.revision, error: plain })
    }
    const slices = new Slices(
      { monotonicMs: this.#monotonicMs, defer: this.#timers.defer },
      { isShared, isBackground },
    )
    // Each value may require a call to a KMS plugin. The calls run concurrently, but their results
    // are processed in order.
    const waiting = new Deque<{
      readonly entry: VersionedValue
      readonly plain: OpenResult | Promise<OpenResult>
    }>()
    const takeFirst = async (): Promise<void> => {
      const first = waiting.shift()
      if (first !== undefined) keep(first.entry, await first.plain)
    }
    const askedMax = isBackground ? ASKED_IN_BACKGROUND : ASKED_AT_ONCE
    for (const entry of entries) {
      // Some ciphers take several milliseconds for a large value.
      if (slices.isOver) await slices.turn()
      const plain = this.#plainListed(entry, setsAsideUnreadable)
      if (!(plain instanceof Promise) && waiting.length === 0) keep(entry, plain)
      else waiting.push({ entry, plain })
      if (waiting.length >= askedMax) await takeFirst()
    }
    while (waiting.length > 0) await takeFirst()
    return { values, unreadable }
  }

  /**
   * Reads a whole range in pages of about the same number of bytes. All pages have the same
   * revision, unless `isEachLatest` is set. Yields at least one page.
   */
  async *walk(range: KeyRange, options: WalkOptions = {}): AsyncGenerator<Page, void, void> {
    const size = new PageSize(options.pageBytes, options.rowBytes)
    const { revision, signal, readsAhead = false, isEachLatest = false } = options
    const { setsAsideUnreadable = false, isShared = false, isBackground = false } = options
    const each = { signal, setsAsideUnreadable, isShared, isBackground }
    let next = this.#walkPage(size, range, { revision, ...each })
    for (;;) {
      const page = await next
      const { last } = page
      const rest =
        page.more && last !== undefined
          ? { revision: isEachLatest ? undefined : page.revision, after: last, ...each }
          : undefined
      if (rest !== undefined && readsAhead) {
        next = this.#walkPage(size, range, rest)
        // Prevent an unhandled rejection: if the caller stops early, this page is never awaited.
        next.catch(() => undefined)
      }
      yield page
      if (rest === undefined) return
      if (!readsAhead) next = this.#walkPage(size, range, rest)
    }
  }

  async #walkPage(size: PageSize, range: KeyRange, options: ListOptions): Promise<Page> {
    for (;;) {
      try {
        const page = await this.list(range, { ...options, limit: size.rows })
        let bytes = 0
        for (const { key, value } of page.values) bytes += key.length + value.length
        size.record(page.values.length, bytes)
        return page
      } catch (error) {
        if (!isCode(error, 'too-large') || !size.shrink()) throw error
      }
    }
  }

  async #found(key: Key, options: CallOptions): Promise<LookupResult> {
    const { values, revision } = await this.#engine.range({ ...rangeOfKey(key), limit: 1 }, options)
    return { entry: values[0], revision }
  }

  async #proven<T>(
    { entry, revision }: LookupResult,
    decode: UpdateOptions<T>['decode'],
  ): Promise<Basis<T>> {
    if (entry === undefined)
      return { current: undefined, value: undefined, revision, isProven: true }
    const stored = await this.#read(entry)
    const { createRevision, stale, value } = stored
    const decoding = decode(stored)
    const object = decoding instanceof Promise ? await decoding : decoding
    const current = { revision: stored.revision, createRevision, object, stale }
    return { current, value, revision, isProven: true }
  }

  /**
   * Confirms the cached state with a read from the database. The object is not decoded again if the
   * revision is the same.
   */
  async #proof<T>(key: Key, basis: Basis<T>, options: UpdateOptions<T>): Promise<Basis<T>> {
    const { current } = basis
    if (
      current !== undefined &&
      !this.#transformer.canBeStale(key) &&
      (await options.isStill?.(current.revision))
    ) {
      return { ...basis, isProven: true }
    }
    const found = await this.#found(key, options)
    if (found.entry === undefined || found.entry.revision !== current?.revision) {
      return this.#proven(found, options.decode)
    }
    const { stale, value } = await this.#read(found.entry)
    return { current: { ...current, stale }, value, revision: basis.revision, isProven: true }
  }

  async #put(key: Key, put: PutRequest, options: CallOptions): Promise<Outcome> {
    const { expected, ttlSeconds, unchanged } = put
    const transformed = this.#transformer.toStorage(key, put.value)
    const value = transformed instanceof Promise ? await transformed : transformed
    if (ttlSeconds === undefined || ttlSeconds === 0) {
      return this.#engine.change({ key, expected, unchanged, write: { put: value } }, options)
    }
    const lease = await this.#leases.get(ttlSeconds)
    try {
      const write = { put: value, lease }
      return await this.#engine.change({ key, expected, unchanged, write }, options)
    } catch (error) {
      if (!isCode(error, 'missing')) throw error
      // 'missing' means that the lease no longer exists, because it was revoked or a backup was
      // restored. Nothing was written, so retry with a new lease.
      await this.#leases.forget(lease)
      const fresh = await this.#leases.get(ttlSeconds)
      const write = { put: value, lease: fresh }
      return this.#engine.change({ key, expected, unchanged, write }, options)
    }
  }

  async #read(found: VersionedValue): Promise<StoredValue> {
    const plain = this.#transformer.fromStorage(found.key, found.value)
    return toStored(found, plain instanceof Promise ? await plain : plain)
  }

  /**
   * Decrypts one value of a list. With `setsAside`, a 'corrupt' error is returned and not thrown.
   */
  #plainListed(found: VersionedValue, setsAside: boolean): OpenResult | Promise<OpenResult> {
    const failed = (error: unknown): StorageError =>
      setsAside && error instanceof StorageError && error.code === 'corrupt'
        ? error
        : throwListed(found.key, error)
    try {
      const plain = this.#transformer.fromStorage(found.key, found.value)
      if (!(plain instanceof Promise)) return plain
      const opening = plain.catch(failed)
      // Prevent an unhandled rejection: if an earlier value fails, this promise is never awaited.
      opening.catch(() => undefined)
      return opening
    } catch (error) {
      return failed(error)
    }
  }

  async #backOff(retry: number, signal: AbortSignal | undefined): Promise<void> {
    const longestMs = Math.min(BACKOFF_MS_FIRST * 2 ** (retry - 1), BACKOFF_MS_MAX)
    try {
      await sleep(this.#timers, longestMs * (0.5 + this.#random() / 2), signal)
    } catch (cause) {
      throw new StorageError('cancelled', 'the caller went away', { cause })
    }
  }
}

type OpenResult = Plain | StorageError

type PutRequest = {
  readonly expected: Revision
  readonly value: Buffer
  readonly ttlSeconds: number | undefined
  readonly unchanged: readonly KeyRevision[] | undefined
}

const at = (revision: Revision | undefined): { revision?: Revision } =>
  revision === undefined ? {} : { revision }

function startOf<T>(cached: Current<T> | 'absent' | undefined): Basis<T> | undefined {
  if (cached === undefined) return undefined
  return {
    current: cached === 'absent' ? undefined : cached,
    value: undefined,
    revision: 0,
    isProven: false,
  }
}

/**
 * The result of one decision. If it is not final, it was made on cached state and is valid only if
 * the database has the same state.
 */
type Attempt = {
  readonly decision: Decision | undefined
  readonly isFinal: boolean
  readonly error?: unknown
}

async function decideOn<T>(
  basis: Basis<T>,
  decide: (current: Current<T> | undefined) => Decision | Promise<Decision>,
): Promise<Attempt> {
  if (basis.isProven) return { decision: await decide(basis.current), isFinal: true }
  try {
    const decision = await decide(basis.current)
    const isNone = decision === 'unchanged' || decision === 'untouched'
    const isWrite = !isNone && !(decision === 'delete' && basis.current === undefined)
    return { decision, isFinal: isWrite }
  } catch (error) {
    return { decision: undefined, isFinal: false, error }
  }
}

/**
 * Returns the write for a decision. A value that is not encrypted with the current key is written
 * again, even if the decision is that nothing changes.
 */
function writeOf<T>(decision: Decision, basis: Basis<T>): Write | 'unchanged' {
  if (decision === 'untouched') return 'unchanged'
  if (decision === 'delete' && basis.current === undefined) throw missing()
  // Copy the value, because the caller may reuse the memory of received bytes, and the engine may
  // retain the value to write.
  if (decision === 'unchanged' && basis.current?.stale && basis.value)
    return { put: Buffer.from(basis.value) }
  return decision
}

const missing = (): StorageError => new StorageError('missing', 'the key does not exist')

const toStored = (found: VersionedValue, plain: Plain): StoredValue => ({
  key: found.key,
  value: plain.value,
  revision: found.revision,
  createRevision: found.createRevision,
  stale: plain.stale,
})

/**
 * Throws the error for an unreadable value in a list. The message contains the key. As in
 * kube-apiserver, the error of a single read does not contain the key.
 */
function throwListed(key: Key, cause: unknown): never {
  if (!(cause instanceof StorageError)) throw cause
  throw new StorageError(
    cause.code,
    `unable to transform key ${JSON.stringify(toText(key))}: ${cause.message}`,
    {
      cause,
    },
  )
}
