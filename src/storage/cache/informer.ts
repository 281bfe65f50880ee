/**
 * Follows one resource by a watch of the cache: reports all objects, then each change, in order.
 * When the watch ends, everything is listed again, and objects that are gone are reported as
 * deleted. It does not resume from a revision: a transaction may delete many objects at one
 * revision, and after a restore of etcd the same revision may mean another state.
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

/** The wait before a watch that ended or failed is reopened. */
const RETRY_MS = 100
/**
 * The longest wait after who follows has failed: each such failure doubles it, as every try is a
 * full list and is likely to fail again.
 */
const RETRY_MS_MAX = 10_000
/** After so long without such a failure the next one is the first again. */
const CALM_MS = 60_000

export type InformerOptions<T> = {
  /** For the log. */
  readonly name: string
  readonly reader: Pick<ObjectReader, 'list' | 'watch'>
  readonly range: KeyRange
  /** What is reported of an object. */
  readonly read: (item: Item) => T
  /** Makes what `read` needs of a large object, in these slices; without it, the wire form. */
  readonly prepare?: (item: Item, slices: Slices) => Promise<unknown>
  /**
   * Instead of `prepare` and `read`, for a large object: it is decoded, and this is called, in
   * parts.
   */
  readonly readLarge?: (object: KubeObject, key: Key) => T
  /**
   * Undefined: the object was deleted; without `unreadable` also: it cannot be decoded. For content
   * that takes long the rest of the work may be returned: its steps are run in slices before
   * anything else is reported.
   */
  readonly set: (key: Key, content: T | undefined) => Steps<void> | undefined | void
  /**
   * The object cannot be decoded. For objects that restrict, which must not count as deleted then.
   */
  readonly unreadable?: (key: Key) => void
  /** The keys of all objects that were reported. */
  readonly known: () => Iterable<Key>
  readonly log: Log
  readonly time?: Time
  /** No client waits for what is reported. */
  readonly isBackground?: boolean
}

const prepareWire = (item: Item, slices: Slices): Promise<void> => item.prepare(slices)

/** `content`: what `readLarge` has returned. */
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
  // An error is reported when the object is read.
  prepared.done = begin().then(end, () => end())
  return prepared
}

export class Informer<T> implements AsyncDisposable {
  readonly #options: InformerOptions<T>
  readonly #stopping = new AbortController()
  #following: Promise<void> = Promise.resolve()
  #restored: Disposable | undefined
  #source: EventSource | undefined
  /** Events that were taken from the watch; those from `#at` on are not reported yet. */
  #taken: readonly WatchEvent[] = []
  #at = 0
  /**
   * While the resource is listed: the known objects that the list has not shown yet. Undefined: the
   * list is complete.
   */
  #unseen: Set<Key> | undefined = new Set()
  /**
   * The rest of the work on the last object that was reported; at the end of a list, on those of
   * `#unseen`, which are gone.
   */
  #steps: Steps<void> | undefined
  /**
   * The large object of the next event. Calls that drain at the same time wait for the same
   * preparation.
   */
  #prepared: PreparedItem<T> | undefined
  #revision: Revision = 0
  /** How often who follows has failed lately, and when the last time. */
  #failures = 0
  #failedMs = 0
  #hasFailed = false
  /** Keys that were told as unreadable: `known` need not have them. */
  readonly #unreadable = new Set<Key>()
  /** Resolved whenever events were reported. */
  #progress = Promise.withResolvers<void>()

  constructor(parts: InformerOptions<T>) {
    this.#options = parts
  }

  /** Resolves when all objects have been reported. */
  async start(): Promise<void> {
    this.#restored = Restores.current()?.follow(this)
    this.#following = this.#follow()
    await this.#until(async () => this.#unseen === undefined)
  }

  /** The revision of the last change that was reported or is being reported. */
  get revision(): Revision {
    return this.#revision
  }

  /**
   * Resolves when the change at this revision has been reported, or when the server stops. Fails
   * with 'cancelled'.
   */
  async reach(revision: Revision, signal?: AbortSignal): Promise<void> {
    // The steps belong to the change at `#revision`, which is not reported before they end.
    const isReached = (): boolean =>
      this.#unseen === undefined && this.#steps === undefined && this.#revision >= revision
    await this.#until(async () => isReached() || ((await this.#catchUp()) && isReached()), signal)
  }

  /**
   * Resolves when everything has been reported that was acknowledged to any client of any server
   * before the call. Fails with a StorageError.
   */
  async latest(signal?: AbortSignal): Promise<void> {
    const { reader, range, name } = this.#options
    // The list is empty, but it is answered only once the cache has everything up to the latest
    // revision.
    const { state } = await reader.list({ from: range.from, to: range.from }, 'latest')
    // The cache was too far behind, and the list was read from etcd.
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
      // Before the check: progress during the check counts.
      const { promise } = this.#progress
      if (this.#stopping.signal.aborted || (await isDone())) return
      await orCancelled(promise, signal)
    }
  }

  /**
   * Reports all that the cache has. False if that is not possible now because the resource is being
   * listed.
   */
  async #catchUp(): Promise<boolean> {
    const source = this.#source
    if (this.#unseen !== undefined || source === undefined || !isLive(source)) return false
    await this.#drain(source)
    // A watch that was too slow is closed by a take, and has not passed on everything.
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
          log('warn', `${name} cannot be followed; trying again`, { error: String(error) })
      }
      // Rejects only when the server stops.
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
      // Not before the watch is open: of what others get to know later, the watch tells the
      // deletion. What was created after the list counts as gone until its own event.
      this.#unseen = new Set([...(await this.#knownKeys()), ...this.#unreadable])
      for (const key of early) {
        // It is not gone.
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
   * Reports all events of the watch. Several calls may run at the same time: each event is reported
   * once, in order.
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

  /** Resolves when the object of the next event has been prepared. Undefined if it need not be. */
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
      // It was not reported: everything is listed again.
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
    // A list is in the order of keys, not of revisions.
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

  /** Requests wait for what they are decided by, such as roles. */
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

  /** What it was stays in force for those who have no other use for it. */
  #emitUnreadable(key: Key, why: string, error?: Error): void {
    const { name, log, unreadable } = this.#options
    const outcome = unreadable === undefined ? ' and is ignored' : ''
    this.#unreadable.add(key)
    log('error', `one of ${name} ${why}${outcome}`, { key, ...(error && { error: error.message }) })
    unreadable?.(key)
  }

  #emitProgress(): void {
    this.#progress.resolve()
    this.#progress = Promise.withResolvers<void>()
  }
}

/** A function, since TypeScript would narrow the state across an await. */
const isLive = ({ state }: EventSource): boolean => state === 'live'

/** Fails with 'cancelled' if the signal is aborted first. */
const orCancelled = (promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> =>
  orAborted(promise, signal, () => {
    const options = { cause: signal?.reason, ambiguous: true }
    return new StorageError(
      'cancelled',
      'the caller went away before the change was in force',
      options,
    )
  })

const metadata = '"metadata":'

/**
 * The fields behind metadata, most of which is managedFields. Read from the JSON that clients see:
 * the cache makes that for the first client anyway, and parsing this part of it takes a fraction of
 * the time of decoding the stored form. A large object that was decoded in parts is not parsed
 * again.
 */
export function contentOf(item: Item): Fields {
  if (item.isLarge && item.decoded !== undefined) return item.decoded
  const bytes = contentBytes(item)
  return bytes.length === 0 ? {} : fieldsOf(parseText(`{${bytes.toString('utf8')}`))
}

/**
 * The JSON behind metadata, without the opening brace. With metadata if that does not come first.
 */
export function contentBytes(item: Item): Buffer {
  const tail = item.listTail()
  const isFirst = tail.toString('latin1', 0, metadata.length) === metadata
  return isFirst ? tail.subarray(endOfValue(tail, metadata.length) + 1) : tail
}
