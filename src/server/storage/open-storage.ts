/** What objects are kept in: the database that the configuration names, how its values are encrypted, and the caches in front of it. */
import { Cache } from '../../storage/cache/cache.ts'
import { CacheMemory } from '../../storage/cache/cache-memory.ts'
import { addCacheMetrics } from '../../storage/cache/metrics.ts'
import type { Config } from '../../config/config.ts'
import { Loop } from '../../lib/loop.ts'
import { createEncryption, type EncryptionSetUp } from './encryption.ts'
import type { Dial } from '../../lib/dial.ts'
import { type Log, named } from '../../lib/log.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Metrics } from '../../lib/metrics.ts'
import type { Time } from '../../lib/timers.ts'
import { otherEtcds, Overrides } from './overrides.ts'
import type { Engine, Key } from '../../storage/engine.ts'
import { rootOf } from '../../storage/keys.ts'
import { Leases } from '../../storage/leases.ts'
import { MeasuredEngine } from '../../storage/measured-engine.ts'
import { type OpenedEngine, openEngine } from '../../storage/open-engine.ts'
import { addStorageSize } from '../../storage/size-metric.ts'
import { Store } from '../../storage/store.ts'
import type { Tracing } from '../../request/tracing/tracing.ts'

export type StorageOptions = {
  /** Undefined: it is opened here. */
  readonly opened: OpenedEngine | Promise<OpenedEngine> | undefined
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

/** All of it is ended with `owner`. Fails with what to do about it. */
export async function openStorage(
  config: Config,
  owner: AsyncDisposableStack,
  { opened, cacheBytes, tracing, dial, serverId, metrics, time, random, log }: StorageOptions,
): Promise<OpenStorage> {
  const root = rootOf(config.storage.prefix)
  const {
    engine: own,
    startCompaction,
    readSize,
  } = await (opened ?? openEngine(config.storage, { clock: time, log, dial }))
  const { monotonicMs } = time
  const traced = (untraced: Engine): Engine => tracing?.engine(untraced, root) ?? untraced
  const engine = owner.use(new MeasuredEngine(traced(own), { root, metrics, monotonicMs }))
  const { leaseReuseSecondsMax, sizePollMs } = config.storage
  const leaseOptions = { surplusSecondsMax: leaseReuseSecondsMax, onReplaced: countLeased(metrics) }
  const leases = new Leases(
    (ttlSeconds, options) => engine.grantLease(ttlSeconds, options),
    time,
    leaseOptions,
  )
  const encryption = owner.use(
    await createEncryption(
      { encryption: config.storage.encryption, featureGates: config.featureGates },
      { root, time, log, metrics, serverId },
    ),
  )
  const { transformer } = encryption
  const store = new Store(engine, { transformer, leases, random })
  owner.use(startCompaction())
  const memory = new CacheMemory(cacheBytes, 1 + otherEtcds(config))
  const common = { root, transformer, engine, clock: time, memory }
  const cache = owner.use(new Cache({ ...common, store, log: named(log, 'cache') }))
  const overrides = owner.use(
    await Overrides.open(config, { ...common, metrics, leaseOptions, random, log, dial, traced }),
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
