/**
 * Opens one database and all layers on top of it: the engine with its metrics and spans, the
 * leases, the store, the compaction and the cache. This module opens the main database, and the
 * databases in --etcd-servers-overrides.
 */
import type { Clock } from '../../lib/time/clock.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Metrics } from '../../lib/telemetry/metrics.ts'
import type { CacheMemory } from '../../storage/cache/cache-memory.ts'
import { Cache } from '../../storage/cache/cache.ts'
import type { Engine, Key } from '../../storage/engine.ts'
import { type LeaseOptions, Leases } from '../../storage/leases.ts'
import { MeasuredEngine, type RequestLabels } from '../../storage/measured-engine.ts'
import type { OpenedEngine } from '../../storage/open-engine.ts'
import { Store } from '../../storage/store.ts'
import type { Transformer } from '../../storage/transform.ts'

export type DatabaseOptions = {
  /** Prefix of all keys. */
  readonly root: Key
  readonly transformer: Transformer
  /** The memory budget that the caches of all databases share. */
  readonly memory: CacheMemory
  readonly leaseOptions: LeaseOptions
  /** Adds tracing spans if tracing is enabled. */
  readonly traced: (engine: Engine) => Engine
  readonly metrics: Metrics
  readonly requestLabels: RequestLabels
  /**
   * The engine of the main database, whose metrics also count the calls of this database. Set only
   * for a separate database.
   */
  readonly sharesMetricsOf?: MeasuredEngine
  readonly clock: Clock
  readonly random: () => number
  /** Log for messages of the cache. */
  readonly log: Log
}

export type Database = AsyncDisposable & {
  readonly engine: MeasuredEngine
  readonly store: Store
  /** The cache. It is not started yet. */
  readonly cache: Cache
  /** Returns the size of the database on disk, in bytes. */
  readonly readSize: OpenedEngine['readSize']
}

/** Opens a database on top of an engine. Disposing of the result also closes the engine. */
export function openDatabase(opened: OpenedEngine, options: DatabaseOptions): Database {
  const { root, transformer, memory, leaseOptions, traced, clock, random, log } = options
  const { metrics, sharesMetricsOf } = options
  const owned = new AsyncDisposableStack()
  const measured = {
    root,
    metrics,
    requestLabels: options.requestLabels,
    monotonicMs: clock.monotonicMs,
    sharesMetricsOf,
  }
  const engine = owned.use(new MeasuredEngine(traced(opened.engine), measured))
  const leases = new Leases(
    (ttlSeconds, call) => engine.grantLease(ttlSeconds, call),
    clock,
    leaseOptions,
  )
  const store = new Store(engine, { transformer, leases, random })
  owned.use(opened.startCompaction())
  const cache = owned.use(new Cache({ engine, store, transformer, root, clock, memory, log }))
  return {
    engine,
    store,
    cache,
    readSize: opened.readSize,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
