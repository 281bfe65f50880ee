/**
 * One resource, followed through the cache: tells what is there, then each change, in order. A watch that ends is resumed from where it
 * was; when what happened since is not known any more, all is listed again, and what is gone is told like a deletion.
 */
import type { KubeObject } from '../api/object.ts'
import type { WatchEvent } from '../cache/event.ts'
import type { ObjectReader } from '../cache/reader.ts'
import type { EventSource } from '../cache/watch.ts'
import type { Log } from '../lib/log.ts'
import { Slices } from '../lib/slices.ts'
import { sleep, systemTime, type Time } from '../lib/timers.ts'
import type { Key, Revision } from '../storage/engine.ts'
import { isCode, StorageError } from '../storage/errors.ts'
import type { KeyRange } from '../storage/keys.ts'

/** After a watch has ended or could not be begun. */
const RETRY_MS = 100

export type FollowedParts = {
  /** For the log. */
  readonly name: string
  readonly reader: Pick<ObjectReader, 'list' | 'watch'>
  readonly range: KeyRange
  /** Undefined: it is not there any more, or cannot be read. */
  readonly set: (key: Key, object: KubeObject | undefined) => void
  /** The keys of all that was set. */
  readonly known: () => Iterable<Key>
  readonly log: Log
  readonly time?: Time
}

export class FollowedResource implements AsyncDisposable {
  readonly #parts: FollowedParts
  readonly #stopping = new AbortController()
  #following: Promise<void> = Promise.resolve()
  #source: EventSource | undefined
  /** Taken, but not told yet: `#at` is the next. */
  #taken: readonly WatchEvent[] = []
  #at = 0
  /** What a list has shown so far; undefined: all that there is has been told. */
  #listed: Set<Key> | undefined = new Set()
  /** Everything up to this revision has been told. */
  #revision: Revision = 0
  #progress = Promise.withResolvers<void>()

  constructor(parts: FollowedParts) {
    this.#parts = parts
  }

  /** Comes back when all that there is has been told. */
  async start(): Promise<void> {
    this.#following = this.#follow()
    while (this.#listed !== undefined && !this.#stopping.signal.aborted) await this.#next()
  }

  /** Comes back when everything up to this revision of the resource has been told, or at the end of the server. */
  async reach(revision: Revision, signal?: AbortSignal): Promise<void> {
    while (!this.#isAt(revision) && !this.#stopping.signal.aborted) await this.#next(signal)
  }

  /** Comes back when everything has been told that was acknowledged to anybody before the call. Fails when that cannot be found out. */
  async latest(signal?: AbortSignal): Promise<void> {
    const { reader, range } = this.#parts
    // Nothing is in an empty range, but the cache answers only when it has everything that was there at the call.
    await reader.list({ from: range.from, to: range.from }, 'latest')
    // From here on no await but for a list under way: what the cache has is told in the same turn.
    while (!this.#isUpToDate() && !this.#stopping.signal.aborted) await this.#next(signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    this.#source?.close()
    this.#tellProgress()
    await this.#following
  }

  #isAt(revision: Revision): boolean {
    const isTold = (): boolean => this.#listed === undefined && this.#revision >= revision
    return isTold() || (this.#isUpToDate() && isTold())
  }

  /** Tells all that the cache has, at once, unless it is listing; then false. */
  #isUpToDate(): boolean {
    const source = this.#source
    if (this.#listed !== undefined || source === undefined || source.state !== 'live') return false
    do {
      while (this.#at < this.#taken.length) this.#tellNext()
      this.#take(source)
    } while (this.#taken.length > 0)
    return this.#source === source && source.state === 'live'
  }

  async #next(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const onAbort = (): void => reject(signal?.reason)
    signal?.addEventListener('abort', onAbort)
    try {
      await Promise.race([this.#progress.promise, aborted])
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }

  async #follow(): Promise<void> {
    const { log, name, time = systemTime } = this.#parts
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#followOnce()
      } catch (error) {
        // What happened meanwhile is not known any more.
        if (isCode(error, 'compacted')) this.#listed = new Set()
        else if (!signal.aborted) log('warn', `${name} cannot be followed; trying again`, { error: String(error) })
      }
      // Woken early only by the end.
      if (!signal.aborted) await sleep(time, RETRY_MS, signal).catch(() => undefined)
    }
  }

  async #followOnce(): Promise<void> {
    const { reader, range, time = systemTime } = this.#parts
    const mustList = this.#listed !== undefined
    if (mustList) this.#listed = new Set()
    const start = mustList ? ({ initial: 'latest', markEnd: true } as const) : { after: this.#revision }
    const source = await reader.watch({ range, start })
    this.#source = source
    if (this.#stopping.signal.aborted) source.close()
    try {
      const slices = new Slices(time)
      for (;;) {
        while (this.#at < this.#taken.length) {
          this.#tellNext()
          if (slices.isOver) await slices.turn()
        }
        this.#tellProgress()
        this.#take(source)
        if (this.#taken.length > 0) continue
        if (source.state === 'closed') return
        await new Promise<void>((resolve) => source.onReady(resolve))
        slices.begin()
      }
    } finally {
      this.#source = undefined
      source.close()
    }
  }

  #take(source: EventSource): void {
    this.#taken = source.take()
    this.#at = 0
  }

  #tellNext(): void {
    const event = this.#taken[this.#at++]
    if (event === undefined) return
    if (event.type === 'BOOKMARK') {
      this.#revision = event.revision
      if (event.initialEventsEnd) this.#endList()
      return
    }
    const { key } = event.item
    // A list comes in the order of keys: of a revision it is true only when it has ended.
    if (this.#listed === undefined) this.#revision = event.revision
    else this.#listed.add(key)
    this.#parts.set(key, event.type === 'DELETED' ? undefined : this.#read(event.item))
  }

  #endList(): void {
    const listed = this.#listed
    this.#listed = undefined
    if (listed === undefined) return
    for (const key of [...this.#parts.known()]) if (!listed.has(key)) this.#parts.set(key, undefined)
  }

  /** What cannot be read gives nobody a right. */
  #read(item: { readonly key: Key; peek(): KubeObject }): KubeObject | undefined {
    try {
      return item.peek()
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      const { name, log } = this.#parts
      log('error', `one of ${name} cannot be read and does not count`, { key: item.key, error: error.message })
      return undefined
    }
  }

  #tellProgress(): void {
    this.#progress.resolve()
    this.#progress = Promise.withResolvers<void>()
  }
}
