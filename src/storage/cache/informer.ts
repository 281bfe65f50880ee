/**
 * Follows one resource with a watch of the cache. Reports all objects, and then each change in
 * order. When the watch ends, everything is listed again, and objects that no longer exist are
 * reported as deleted. The informer does not resume from a revision, for two reasons. A transaction
 * can delete many objects at one revision. After a restore of etcd, the same revision can denote
 * another state.
 */
import { parseText } from '../../api/json-value.ts'
import { type Fields, fieldsOf, type KubeObject } from '../../api/object.ts'
import { endOfValue } from '../../objects/codec/json-bytes.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { orAborted } from '../../lib/concurrency/or-aborted.ts'
import { inParts } from '../../lib/scheduling/parts.ts'
import { Restores } from '../../lib/concurrency/restores.ts'
import { Slices, type Steps } from '../../lib/scheduling/slices.ts'
import { sleep, systemTime, type Time } from '../../lib/time/timers.ts'
import type { Key, Revision } from '../engine.ts'
import { StorageError } from '../errors.ts'
import type { KeyRange } from '../keys.ts'
import type { WatchEvent } from './event.ts'
import type { Item } from './item.ts'
import type { ObjectReader } from './reader.ts'
import type { OnUnreadable } from './resource-watchers.ts'
import type { EventSource } from './watch.ts'

/** Delay before a watch that ended or failed is reopened. */
const RETRY_MS = 100
/**
 * Maximum delay after a failure of the consumer. The delay doubles with each failure, because every
 * attempt lists everything and is likely to fail again.
 */
const RETRY_MS_MAX = 10_000
/** If the consumer has not failed for this long, the delay starts at RETRY_MS again. */
const CALM_MS = 60_000

export type InformerOptions<T> = {
  /** Name of the resource in log messages. */
  readonly name: string
  readonly reader: Pick<ObjectReader, 'list' | 'watch'>
  readonly range: KeyRange
  /** Returns the content of an object that is reported to the consumer. */
  readonly read: (item: Item) => T
  /**
   * Prepares the data that `read` needs from a large object. The work runs in these slices. By
   * default, prepares the JSON for clients.
   */
  readonly prepare?: (item: Item, slices: Slices) => Promise<unknown>
  /**
   * Replaces `prepare` and `read` for a large object. The object is decoded in parts, and this
   * function also runs in parts.
   */
  readonly readLarge?: (object: KubeObject, key: Key) => T
  /**
   * Sets the content of an object. `content` is undefined if the object was deleted. If there is no
   * function `unreadable`, `content` is also undefined if the object cannot be decoded. If the work
   * takes long, the function can return the remaining steps. They run in slices before anything
   * else is reported.
   */
  readonly set: (key: Key, content: T | undefined) => Steps<void> | undefined | void
  /**
   * Called when an object cannot be decoded. This is necessary for objects that restrict requests,
   * such as policies, because such an object must not be treated as deleted.
   */
  readonly unreadable?: (key: Key) => void
  /** Returns the keys of all objects passed to `set`. */
  readonly known: () => Iterable<Key>
  readonly log: Log
  readonly time?: Time
  /** Whether no client waits for the reported objects. */
  readonly isBackground?: boolean
}

const prepareWire = (item: Item, slices: Slices): Promise<void> => item.prepare(slices)

/** A large object that is being prepared. `content` is the result of `readLarge`. */
type PreparedItem<T> = {
  readonly item: Item
  readonly done: Promise<void>
  readonly isDone: boolean
  readonly content: { readonly value: T } | undefined
}

function startPreparing<T>(
  item: Item,
  begin: () => Promise<PreparedItem<T>['content']>,
): PreparedItem<T> {
  const prepared: { -readonly [part in keyof PreparedItem<T>]: PreparedItem<T>[part] } = {
    item,
    done: Promise.resolve(),
    isDone: false,
    content: undefined,
  }
  const end = (content?: PreparedItem<T>['content']): void => {
    prepared.content = content
    prepared.isDone = true
  }
  // An error is reported later, when the object is read.
  prepared.done = begin().then(end, () => end())
  return prepared
}

export class Informer<T> implements AsyncDisposable {
  readonly #options: InformerOptions<T>
  readonly #stopping = new AbortController()
  #following: Promise<void> = Promise.resolve()
  #restored: Disposable | undefined
  #source: EventSource | undefined
  /**
   * Events that were taken from the watch. The events from index `#at` on have not been reported to
   * the consumer yet.
   */
  #taken: readonly WatchEvent[] = []
  #at = 0
  /**
   * Keys of the objects that were reported before the current list and have not occurred in it so
   * far. At its end, they are reported as deleted. Undefined when the list is complete.
   */
  #unseen: Set<Key> | undefined = new Set()
  /**
   * Steps of the consumer that still have to run for the last reported object. At the end of a
   * list, they are the steps for the deleted objects in `#unseen`.
   */
  #steps: Steps<void> | undefined
  /**
   * The large object of the next event. Concurrent calls of `#drain` wait for the same preparation.
   */
  #prepared: PreparedItem<T> | undefined
  #revision: Revision = 0
  /** Number of recent failures of the consumer, and the time of the last one. */
  #failures = 0
  #failedMs = 0
  #hasFailed = false
  /** Keys that were reported as unreadable. `known` may omit them. */
  readonly #unreadable = new Set<Key>()
  /** A promise that is resolved and then replaced whenever events have been reported. */
  #progress = Promise.withResolvers<void>()

  constructor(parts: InformerOptions<T>) {
    this.#options = parts
  }

  /** Starts to follow the resource. Resolves when all objects have been reported. */
  async start(): Promise<void> {
    this.#restored = Restores.current()?.follow(this)
    this.#following = this.#follow()
    await this.#until(async () => this.#unseen === undefined)
  }

  /** The revision of the last change that has been reported or is being reported. */
  get revision(): Revision {
    return this.#revision
  }

  /**
   * Resolves when the change at this revision has been reported, or when the server stops. Rejects
   * with 'cancelled' if the signal is aborted first.
   */
  async reach(revision: Revision, signal?: AbortSignal): Promise<void> {
    // The steps belong to the change at `#revision`, which is not fully reported until they have
    // ended.
    const isReached = (): boolean =>
      this.#unseen === undefined && this.#steps === undefined && this.#revision >= revision
    await this.#until(async () => isReached() || ((await this.#catchUp()) && isReached()), signal)
  }

  /**
   * Resolves when everything has been reported that any server acknowledged to any client before
   * the call. Rejects with a StorageError if the database does not respond.
   */
  async latest(signal?: AbortSignal): Promise<void> {
    const { reader, range, name } = this.#options
    // List an empty range. The only purpose of the list is to wait until the cache has reached the
    // latest revision.
    const { state } = await reader.list({ from: range.from, to: range.from }, 'latest')
    // If the list has no state, it was read from the database, because the cache was too far
    // behind.
    if (state === undefined)
      throw new StorageError('unavailable', `${name} cannot be brought up to date at the moment`)
    await this.#until(() => this.#catchUp(), signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#restored?.[Symbol.dispose]()
    this.#stopping.abort()
    this.#source?.close()
    this.#emitProgress()
    await this.#following
  }

  async #until(isDone: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
    for (;;) {
      // Get the promise before checking the condition, so that events that are reported during the
      // check are not missed.
      const { promise } = this.#progress
      if (this.#stopping.signal.aborted || (await isDone())) return
      await orCancelled(promise, signal)
    }
  }

  /**
   * Reports all events that the cache has. Returns false if this is not possible because the
   * resource is being listed.
   */
  async #catchUp(): Promise<boolean> {
    const source = this.#source
    if (this.#unseen !== undefined || source === undefined || !isLive(source)) return false
    await this.#drain(source)
    // Check again that the watch is open: `take` closes a watch that is too slow, and then not all
    // events were delivered.
    return this.#source === source && this.#unseen === undefined && isLive(source)
  }

  async #follow(): Promise<void> {
    const { log, name, time = systemTime } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      this.#hasFailed = false
      try {
        await this.#followOnce()
      } catch (error) {
        if (!signal.aborted)
          log('warn', `could not watch ${name}; retrying`, { error: String(error) })
      }
      // `sleep` rejects only when the server stops.
      if (!signal.aborted) await sleep(time, this.#retryMs(), signal).catch(() => undefined)
    }
  }

  #retryMs(): number {
    return this.#hasFailed ? Math.min(RETRY_MS * 2 ** (this.#failures - 1), RETRY_MS_MAX) : RETRY_MS
  }

  async #followOnce(): Promise<void> {
    const { reader, range } = this.#options
    let early: Set<Key> | undefined = new Set()
    const onUnreadable: OnUnreadable = (key, state) => {
      if (state === 'gone') {
        early?.delete(key)
        this.#unreadable.delete(key)
        this.#options.set(key, undefined)
      } else if (early === undefined) this.#emitUnreadable(key, 'cannot be decrypted')
      else early.add(key)
    }
    const start = { initial: 'latest', markEnd: true } as const
    const source = await reader.watch({ range, start, onUnreadable })
    this.#source = source
    if (this.#stopping.signal.aborted) source.close()
    try {
      // The known keys are read only after the watch is open, so that the deletion of objects that
      // are added later arrives as an event. An object that was created after the list is treated
      // as deleted until its own event arrives.
      this.#unseen = new Set([...(await this.#knownKeys()), ...this.#unreadable])
      for (const key of early) {
        // The object is unreadable, but it exists, so do not report it as deleted.
        this.#unseen.delete(key)
        this.#emitUnreadable(key, 'cannot be decrypted')
      }
      early = undefined
      for (;;) {
        await this.#drain(source)
        this.#emitProgress()
        if (source.state === 'closed') return
        await new Promise<void>((resolve) => source.onReady(resolve))
      }
    } finally {
      this.#source = undefined
      this.#unseen ??= new Set()
      this.#steps = undefined
      this.#taken = []
      source.close()
    }
  }

  /**
   * Reports all events of the watch. Concurrent calls are allowed: each event is reported once, in
   * order.
   */
  async #drain(source: EventSource): Promise<void> {
    const slices = this.#slices()
    while (this.#source === source) {
      const preparation = this.#preparation()
      if (preparation !== undefined) {
        await preparation
        continue
      }
      if (this.#steps !== undefined) this.#report(source, this.#steps)
      else if (this.#at < this.#taken.length) {
        this.#report(source, this.#taken[this.#at++])
        this.#prepared = undefined
      } else {
        this.#taken = source.take()
        this.#at = 0
        if (this.#taken.length === 0) return
      }
      if (slices.isOver) await slices.turn()
    }
  }

  /**
   * Resolves when the object of the next event has been prepared. Returns undefined if no
   * preparation is necessary.
   */
  #preparation(): Promise<void> | undefined {
    const event = this.#taken[this.#at]
    if (this.#steps !== undefined || event === undefined) return undefined
    if (event.type === 'BOOKMARK' || event.type === 'DELETED' || !event.item.isLarge)
      return undefined
    const { item } = event
    if (this.#prepared?.item !== item) {
      this.#prepared = startPreparing(item, () => this.#prepare(item))
    }
    return this.#prepared.isDone ? undefined : this.#prepared.done
  }

  async #prepare(item: Item): Promise<PreparedItem<T>['content']> {
    const { prepare = prepareWire, readLarge } = this.#options
    const slices = this.#slices({ isExpensive: true })
    if (readLarge === undefined) {
      await prepare(item, slices)
      return undefined
    }
    const object = await item.objectInParts(slices)
    return { value: await inParts(() => readLarge(object, item.key), slices) }
  }

  #report(source: EventSource, what: WatchEvent | Steps<void> | undefined): void {
    try {
      if (what === undefined) return
      if ('next' in what) this.#continue(what)
      else this.#emit(what)
    } catch (error) {
      // The consumer failed and has not processed the event, so list everything again.
      const { monotonicMs } = this.#options.time ?? systemTime
      this.#failures = monotonicMs() - this.#failedMs > CALM_MS ? 1 : this.#failures + 1
      this.#failedMs = monotonicMs()
      this.#hasFailed = true
      this.#unseen ??= new Set()
      source.close()
      throw error
    }
  }

  #emit(event: WatchEvent): void {
    if (event.type === 'BOOKMARK') {
      this.#revision = event.revision
      if (event.initialEventsEnd) this.#steps = this.#emitGone(this.#unseen ?? new Set<Key>())
      return
    }
    const { key } = event.item
    // Do not set the revision during a list, because the objects of a list are ordered by key and
    // not by revision.
    if (this.#unseen === undefined) this.#revision = event.revision
    else this.#unseen.delete(key)
    if (event.type === 'DELETED') {
      this.#unreadable.delete(key)
      this.#options.set(key, undefined)
    } else this.#emitContent(event.item)
  }

  #continue(steps: Steps<void>): void {
    if (steps.next().done === true) this.#steps = undefined
  }

  *#emitGone(gone: ReadonlySet<Key>): Steps<void> {
    for (const key of gone) {
      this.#unreadable.delete(key)
      this.#options.set(key, undefined)
      yield
    }
    this.#unseen = undefined
  }

  async #knownKeys(): Promise<Set<Key>> {
    const keys = new Set<Key>()
    const slices = this.#slices()
    for (const key of this.#options.known()) {
      keys.add(key)
      if (slices.isOver) await slices.turn()
    }
    return keys
  }

  /**
   * Returns the time slices in which work runs. Requests wait until objects that affect them, such
   * as roles, are reported. Therefore the work does not wait for the lists of single clients,
   * unless the informer runs in the background.
   */
  #slices({ isExpensive = false } = {}): Slices {
    const { time, isBackground = false } = this.#options
    return new Slices(time, { isBackground, isShared: !isBackground, isExpensive })
  }

  #emitContent(item: Item): void {
    const { read, set, unreadable } = this.#options
    const { key } = item
    let content: T | undefined
    try {
      const prepared = this.#prepared?.item === item ? this.#prepared.content : undefined
      content = prepared === undefined ? read(item) : prepared.value
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      this.#emitUnreadable(key, 'cannot be decoded', error)
      if (unreadable !== undefined) return
    }
    this.#unreadable.delete(key)
    this.#steps = set(key, content) ?? undefined
  }

  /**
   * Logs and reports an object that cannot be read. Without an `unreadable` handler, an object that
   * cannot be decrypted retains its last content.
   */
  #emitUnreadable(key: Key, why: string, error?: Error): void {
    const { name, log, unreadable } = this.#options
    this.#unreadable.add(key)
    log('error', `an object of ${name} ${why}`, {
      key,
      ...(error && { error: error.message }),
    })
    unreadable?.(key)
  }

  #emitProgress(): void {
    this.#progress.resolve()
    this.#progress = Promise.withResolvers<void>()
  }
}

/**
 * This is a function, because TypeScript would assume that a property keeps its value across an
 * await.
 */
const isLive = ({ state }: EventSource): boolean => state === 'live'

/** Waits for the promise. Rejects with 'cancelled' if the signal is aborted first. */
const orCancelled = (promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> =>
  orAborted(promise, signal, () => {
    const options = { cause: signal?.reason, ambiguous: true }
    return new StorageError(
      'cancelled',
      'the caller went away before the change took effect',
      options,
    )
  })

const metadata = '"metadata":'

/**
 * Returns the fields that follow metadata. The metadata are skipped because they consist mostly of
 * managedFields. The fields are parsed from the JSON for clients, which the cache creates for the
 * first client anyway. This takes a fraction of the time of decoding the stored form. A large
 * object that was decoded in parts is not parsed again.
 */
export function contentOf(item: Item): Fields {
  if (item.isLarge && item.decoded !== undefined) return item.decoded
  const bytes = contentBytes(item)
  return bytes.length === 0 ? {} : fieldsOf(parseText(`{${bytes.toString('utf8')}`))
}

/**
 * Returns the JSON that follows metadata, without the opening brace. If metadata is not the first
 * field, returns the whole JSON.
 */
export function contentBytes(item: Item): Buffer {
  const tail = item.listTail()
  const isFirst = tail.toString('latin1', 0, metadata.length) === metadata
  return isFirst ? tail.subarray(endOfValue(tail, metadata.length) + 1) : tail
}
