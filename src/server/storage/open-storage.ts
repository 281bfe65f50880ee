/**
 * The storage of a server: the main database, separate etcds for some resources, and encryption at
 * rest.
 */
import { messageOf } from '../../lib/errors.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { Cache } from '../../storage/cache/cache.ts'
import { CacheMemory } from '../../storage/cache/cache-memory.ts'
import { addCacheMetrics } from '../../storage/cache/metrics.ts'
import type { Config } from '../../config/config.ts'
import { Loop } from '../../lib/concurrency/loop.ts'
import { createEncryption, type EncryptionSetUp } from './encryption.ts'
import type { Dial } from '../../lib/net/dial.ts'
import { type Log, named } from '../../lib/telemetry/log.ts'
import type { Metrics } from '../../lib/telemetry/metrics.ts'
import type { Time } from '../../lib/time/timers.ts'
import { openDatabase } from './open-database.ts'
import { otherEtcds, Overrides } from './overrides.ts'
import type { Engine, Key } from '../../storage/engine.ts'
import { rootOf } from '../../storage/keys.ts'
import type { MeasuredEngine } from '../../storage/measured-engine.ts'
import { type OpenedEngine, openEngine } from '../../storage/open-engine.ts'
import { addStorageSize } from '../../storage/size-metric.ts'
import type { Store } from '../../storage/store.ts'
import { requestLabels } from './request-labels.ts'
import type { Tracing } from '../../request/tracing/tracing.ts'

export type StorageOptions = {
  /** An engine that is already open. If undefined, the configured engine is opened. */
  readonly opened: MaybePromise<OpenedEngine> | undefined
  /** Maximum memory of all caches together. */
  readonly cacheBytes: number
  readonly tracing: Tracing | undefined
  /** Opens connections to etcd. If undefined, the connections are direct. */
  readonly dial: Dial | undefined
  readonly serverId: string
  readonly metrics: Metrics
  readonly time: Time
  readonly random: () => number
  readonly log: Log
}

export type OpenStorage = {
  /** Prefix of all keys. */
  readonly root: Key
  readonly engine: MeasuredEngine
  readonly store: Store
  readonly cache: Cache
  readonly overrides: Overrides
  readonly encryption: EncryptionSetUp
}

/**
 * Opens the storage. Disposing of `owner` closes it. If opening fails, the error explains how to
 * fix the problem.
 */
export async function openStorage(
  config: Config,
  owner: AsyncDisposableStack,
  options: StorageOptions,
): Promise<OpenStorage> {
  const { cacheBytes, tracing, dial, serverId, metrics, time, random, log } = options
  const root = rootOf(config.storage.prefix)
  const etcdOptions = { clock: time, log, dial }
  const opened = await (options.opened ?? openEngine(config.storage, etcdOptions))
  await using unowned = new AsyncDisposableStack()
  unowned.use(opened.engine)
  const encryption = owner.use(
    await createEncryption(
      { encryption: config.storage.encryption, featureGates: config.featureGates },
      { root, time, log, metrics, serverId },
    ),
  )
  const { leaseReuseSecondsMax, sizePollMs } = config.storage
  const databaseOptions = {
    root,
    transformer: encryption.transformer,
    memory: new CacheMemory(cacheBytes, 1 + otherEtcds(config)),
    leaseOptions: { surplusSecondsMax: leaseReuseSecondsMax, onReplaced: countLeased(metrics) },
    traced: (engine: Engine): Engine => tracing?.engine(engine, root) ?? engine,
    metrics,
    requestLabels: requestLabels(config.release),
    clock: time,
    random,
  }
  const { engine, store, cache, readSize } = owner.use(
    openDatabase(opened, { ...databaseOptions, log: named(log, 'cache') }),
  )
  // From here on, the database owns the engine and closes it.
  unowned.move()
  const overrides = owner.use(
    await Overrides.open(config, etcdOptions, {
      ...databaseOptions,
      sharesMetricsOf: engine,
      log,
    }),
  )
  await startCache(cache, config)
  encryption.onReplaced((isConcerned) => {
    for (const one of [cache, ...overrides.caches]) void one.checkReadable(isConcerned)
  })
  addCacheMetrics(metrics, cache, overrides.caches)
  if (sizePollMs > 0) {
    const showSize = addStorageSize(metrics, [readSize, ...overrides.readSizes])
    owner.use(
      new Loop({ name: 'the size of the database', intervalMs: sizePollMs, run: showSize, log }),
    )
  }
  return { root, engine, store, cache, overrides, encryption }
}

/**
 * Returns the servers of the main etcd. Returns an empty list if objects are not stored in etcd.
 */
export const etcdServers = ({ storage: { store } }: Config): readonly string[] =>
  store.kind === 'etcd' ? store.servers : []

async function startCache(cache: Cache, config: Config): Promise<void> {
  try {
    await cache.start()
  } catch (cause) {
    const why = messageOf(cause)
    const { store } = config.storage
    if (store.kind === 'sqlite')
      throw new Error(`the store in ${store.folder} cannot be read (${why})`, { cause })
    const servers = etcdServers(config).join(', ')
    throw new Error(
      `etcd at ${servers} does not respond (${why}): start it, or correct --etcd-servers`,
      { cause },
    )
  }
}

/**
 * Returns a function that records how many objects are attached to a lease. The number matters,
 * because all of them expire in one transaction of etcd.
 */
function countLeased(metrics: Metrics): (objects: number) => void {
  const help = 'Number of objects attached to an etcd lease when another lease replaced it.'
  const counts = metrics.histogram(
    { name: 'etcd_lease_object_counts', help },
    [10, 50, 100, 500, 1000, 2500, 5000],
  )
  return (objects) => counts.with().observe(objects)
}
