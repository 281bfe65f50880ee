/**
 * The operations that the contract tests need in addition to an engine, such as compaction. Also
 * contains helper functions of these tests.
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  CallOptions,
  ConditionalWrite,
  Engine,
  FeedEvent,
  FeedRange,
  FeedStream,
  Revision,
} from '../../../src/storage/engine.ts'
import { StorageError, type StorageErrorCode } from '../../../src/storage/errors.ts'
import { Leases } from '../../../src/storage/leases.ts'
import { Store, type StoredValue } from '../../../src/storage/store.ts'
import { identity, type Transformer } from '../../../src/storage/transform.ts'
import { PATIENCE_MS } from '../../support/harness/until.ts'

export type Subject = AsyncDisposable & {
  readonly engine: Engine
  /** Compacts the history before this revision. */
  readonly compact: (revision: Revision) => Promise<void>
  /** Ends a lease immediately, and deletes the keys that are attached to it. */
  readonly revokeLease: (lease: bigint) => Promise<void>
  /**
   * Suspends the database, so that it does not respond until `resume`. Absent if the database
   * cannot be suspended.
   */
  readonly pause?: () => void
  readonly resume?: () => void
}

export const newStore = (engine: Engine, transformer: Transformer = identity): Store =>
  new Store(engine, {
    transformer,
    leases: new Leases((ttlSeconds, options) => engine.grantLease(ttlSeconds, options)),
  })

export const text = (stored: StoredValue | undefined): string | undefined =>
  stored?.value.toString()

export const bytes = (content: string | number): Buffer => Buffer.from(String(content))

export type GetSubject = () => Subject

const folders = { made: 0 }
/** Returns a key prefix that no other test uses. */
export const newFolder = (): string => `/contract/${++folders.made}/`

export const failsWith =
  (code: StorageErrorCode, message?: string | RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof StorageError, String(error))
    assert.equal(error.code, code)
    if (typeof message === 'string') assert.equal(error.message, message)
    else if (message !== undefined) assert.match(error.message, message)
    return true
  }

export const decode = (stored: StoredValue): string => stored.value.toString()

/** Wraps an engine and counts its calls. Calls `beforeChange` before each change, if it is set. */
export class ObservedEngine implements Engine {
  readonly calls = { range: 0, change: 0, latest: 0 }
  beforeChange: ((change: ConditionalWrite) => void | Promise<void>) | undefined
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  range(...args: Parameters<Engine['range']>): ReturnType<Engine['range']> {
    this.calls.range++
    return this.#engine.range(...args)
  }

  async change(change: ConditionalWrite, options?: CallOptions): ReturnType<Engine['change']> {
    this.calls.change++
    await this.beforeChange?.(change)
    return this.#engine.change(change, options)
  }

  latest(options?: CallOptions): Promise<Revision> {
    this.calls.latest++
    return this.#engine.latest(options)
  }

  openFeed(...args: Parameters<Engine['openFeed']>): FeedStream {
    return this.#engine.openFeed(...args)
  }

  grantLease(ttlSeconds: number, options?: CallOptions): Promise<bigint> {
    return this.#engine.grantLease(ttlSeconds, options)
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

export type ReceivedEvent = {
  readonly range: number
  readonly key: string
  readonly type: 'put' | 'delete'
  readonly revision: Revision
  readonly createRevision: Revision
  readonly value: string
}

/**
 * An event feed that records all events it receives. Values are copied, because the engine reuses
 * their memory.
 */
export class Recorder implements Disposable {
  readonly calls: ReceivedEvent[][] = []
  readonly progress: Revision[] = []
  readonly compacted: { range: number; oldest: Revision }[] = []
  readonly ends: (Error | undefined)[] = []
  readonly #stream: FeedStream

  constructor(engine: Engine, ranges: readonly FeedRange[]) {
    this.#stream = engine.openFeed(ranges, {
      onEvents: (range, events) => this.calls.push(events.map((event) => told(range, event))),
      onProgress: (revision) => this.progress.push(revision),
      onCompacted: (range, oldest) => this.compacted.push({ range, oldest }),
      onEnd: (cause) => this.ends.push(cause),
    })
  }

  get events(): ReceivedEvent[] {
    return this.calls.flat()
  }

  /**
   * Waits for progress to this revision. Requests progress repeatedly, as the cache's feed does.
   */
  async reach(revision: Revision, timeoutMs?: number): Promise<void> {
    await until(
      () => {
        if (this.progress.some((reached) => reached >= revision)) return true
        this.#stream.requestProgress()
        return false
      },
      `progress to ${revision}`,
      timeoutMs,
    )
  }

  requestProgress(): void {
    this.#stream.requestProgress()
  }

  close(): void {
    this.#stream.close()
  }

  [Symbol.dispose](): void {
    this.#stream.close()
  }
}

function told(range: number, event: FeedEvent): ReceivedEvent {
  const { key, type, revision, createRevision } = event
  return { range, key, type, revision, createRevision, value: event.value.toString() }
}

export async function until(
  holds: () => boolean,
  what: string,
  timeoutMs = PATIENCE_MS,
): Promise<void> {
  const end = performance.now() + timeoutMs
  while (!holds()) {
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await sleep(10)
  }
}
