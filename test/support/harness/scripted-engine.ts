/**
 * A database engine whose behavior and events a test controls step by step. It simulates situations
 * that are too rare with etcd.
 */
import { Cache, type CacheOptions } from '../../../src/storage/cache/cache.ts'
import type { Reader } from '../../../src/storage/cache/reader.ts'
import { systemClock } from '../../../src/lib/time/clock.ts'
import { silent } from '../../../src/lib/telemetry/log.ts'
import type {
  Engine,
  FeedEvent,
  FeedListener,
  RangeResult,
  Key,
  RangeQuery,
  VersionedValue,
} from '../../../src/storage/engine.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import { type KeyRange, rangeOf } from '../../../src/storage/keys.ts'
import { Leases } from '../../../src/storage/leases.ts'
import { Store } from '../../../src/storage/store.ts'
import { identity } from '../../../src/storage/transform.ts'
import { encode, form, root } from './plain-cache.ts'

const unexpected = (): Promise<never> =>
  Promise.reject(new Error('the scripted engine does not accept writes'))

export class ScriptedEngine implements Engine {
  revision = 10
  databaseId = 'first'
  /** If set, no call gets a response, as if the database did not respond. */
  isHanging = false
  /** All streams that were opened so far, in order. */
  readonly streams: { readonly sink: FeedListener; readonly after: number; isClosed: boolean }[] =
    []
  #values = new Map<Key, VersionedValue>()
  #resume: (() => void)[] = []

  /** Writes a value, and returns the event that a test can pass to `emit`. */
  put(key: Key, value: string): FeedEvent {
    const revision = ++this.revision
    const createRevision = this.#values.get(key)?.createRevision ?? revision
    const versioned = {
      key,
      revision,
      createRevision,
      value: encode(key.slice(key.lastIndexOf('/') + 1), value),
    }
    this.#values.set(key, versioned)
    return { ...versioned, type: 'put' }
  }

  /** Sends these events and a progress notification to the open streams. */
  emit(...events: readonly FeedEvent[]): void {
    if (events.length > 0) this.sink.onEvents(0, events)
    this.sink.onProgress(this.revision)
  }

  get sink(): FeedListener {
    const stream = this.streams.at(-1)
    if (stream === undefined) throw new Error('no stream was opened')
    return stream.sink
  }

  /** Switches to another database. */
  replace(revision: number, values: readonly VersionedValue[] = []): void {
    this.revision = revision
    this.#values = new Map(values.map((value) => [value.key, value]))
  }

  heal(): void {
    this.isHanging = false
    for (const resume of this.#resume.splice(0)) resume()
  }

  latest = async (): Promise<number> => {
    await this.#answering()
    return this.revision
  }

  async range({ from, to, revision, limit = 0 }: RangeQuery): Promise<RangeResult> {
    await this.#answering()
    if ((revision ?? 0) > this.revision) throw new StorageError('too-new', 'a future revision')
    const all = [...this.#values.values()]
      .filter(({ key }) => key >= from && key < to)
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const values = limit === 0 ? all : all.slice(0, limit)
    return {
      revision: revision ?? this.revision,
      values,
      more: values.length < all.length,
      count: all.length,
    }
  }

  change = unexpected
  grantLease = unexpected

  openFeed: Engine['openFeed'] = (ranges, sink) => {
    const stream = { sink, after: Math.min(...ranges.map(({ after }) => after)), isClosed: false }
    this.streams.push(stream)
    return {
      requestProgress: () => undefined,
      close: () => {
        stream.isClosed = true
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #answering(): Promise<void> {
    if (this.isHanging) await new Promise<void>((resolve) => this.#resume.push(resolve))
  }
}

/** A cache on a scripted engine, with one resource. */
export class ScriptedCache implements AsyncDisposable {
  readonly engine = new ScriptedEngine()
  readonly cache: Cache
  readonly range: KeyRange = rangeOf(`${root}plain/`)
  readonly reader: Reader

  constructor(options: Partial<CacheOptions> = {}) {
    const { engine } = this
    const leases = new Leases(engine.grantLease, systemClock)
    const { transformer = identity } = options
    const store = new Store(engine, { transformer, leases })
    this.cache = new Cache({
      engine,
      store,
      transformer,
      root,
      clock: systemClock,
      log: silent,
      ...options,
    })
    this.reader = this.cache.resource({ name: 'plain', prefix: this.range.from, ...form })
  }

  key(name: string): Key {
    return `${this.range.from}${name}`
  }

  put(name: string, value: string): FeedEvent {
    return this.engine.put(this.key(name), value)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cache[Symbol.asyncDispose]()
  }
}
