/**
 * The storage of a server: the main database, the other etcds that have some resources, and the
 * encryption of the values.
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
import type { Tracing } from '../../request/tracing/tracing.ts'

export type StorageOptions = {
  /** Undefined: it is opened here. */
  readonly opened: MaybePromise<OpenedEngine> | undefined
  /** What all caches may take together. */
  readonly cacheBytes: number
  readonly tracing: Tracing | undefined
  /** How an etcd is connected to; undefined: straight. */
  readonly dial: Dial | undefined
  readonly serverId: string
  readonly metrics: Metrics
  readonly time: Time
  readonly random: () => number
  readonly log: Log
}

export type OpenStorage = {
  /** All keys are below it. */
  readonly root: Key
  readonly engine: MeasuredEngine
  readonly store: Store
  readonly cache: Cache
  readonly overrides: Overrides
  readonly encryption: EncryptionSetUp
}

/** `owner` closes all of it. Fails with what to do about it. */
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
    clock: time,
    random,
  }
  const { engine, store, cache, readSize } = owner.use(
    openDatabase(opened, { ...databaseOptions, log: named(log, 'cache') }),
  )
  // The database closes the engine from here on.
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

/** None if objects are kept in this process. */
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
      `etcd at ${servers} does not answer (${why}): start it, or correct --etcd-servers`,
      { cause },
    )
  }
}

/** What shares a lease expires together, in one transaction of etcd. */
function countLeased(metrics: Metrics): (objects: number) => void {
  const help = 'Objects that shared a lease of etcd when another took its place.'
  const counts = metrics.histogram(
    { name: 'etcd_lease_object_counts', help },
    [10, 50, 100, 500, 1000, 2500, 5000],
  )
  return (objects) => counts.with().observe(objects)
}
