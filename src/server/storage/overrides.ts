/**
 * Resources whose objects another etcd has (--etcd-servers-overrides): each such etcd is followed, proven and compacted on its own, and its
 * revisions are never compared with those of another. If one is away, the resources of the others are served.
 */
import type { Transformer } from '../../storage/transform.ts'
import { Cache } from '../../storage/cache/cache.ts'
import type { CacheMemory } from '../../storage/cache/cache-memory.ts'
import type { Config } from '../../config/config.ts'
import type { EtcdHealth } from '../../request/discovery/components.ts'
import type { HealthCheck } from '../../request/discovery/health.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Dial } from '../../lib/dial.ts'
import type { Log } from '../../lib/log.ts'
import type { Metrics } from '../../lib/metrics.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Engine, Key } from '../../storage/engine.ts'
import { resourcePrefix } from '../../storage/keys.ts'
import { type GrantLease, type LeaseOptions, Leases } from '../../storage/leases.ts'
import { MeasuredEngine } from '../../storage/measured-engine.ts'
import { openEngine } from '../../storage/open-engine.ts'
import { Store } from '../../storage/store.ts'

type Override = {
  readonly servers: readonly string[]
  /** Below the root. */
  readonly folders: ReadonlySet<string>
  readonly cache: Cache
  readonly store: Store
  readonly readSize: (signal: AbortSignal) => Promise<number>
}

export type OverrideParts = {
  readonly root: Key
  readonly transformer: Transformer
  /** That of the main etcd. */
  readonly engine: MeasuredEngine
  /** Shared with the cache of the main etcd. */
  readonly memory: CacheMemory
  readonly metrics: Metrics
  readonly leaseOptions: LeaseOptions
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  readonly dial?: Dial | undefined
  /** As the engine of the main etcd is traced. */
  readonly traced: (engine: Engine) => Engine
}

export class Overrides implements AsyncDisposable {
  readonly #overrides: readonly Override[]
  readonly #owned: AsyncDisposableStack

  private constructor(overrides: readonly Override[], owned: AsyncDisposableStack) {
    this.#overrides = overrides
    this.#owned = owned
  }

  /** Does not wait for an etcd that is away: it is tried again. Fails if one of them cannot be used at all. */
  static async open({ storage: etcd }: Config, parts: OverrideParts): Promise<Overrides> {
    const { store: main } = etcd
    await using owned = new AsyncDisposableStack()
    if (main.kind !== 'etcd') return new Overrides([], owned.move())
    const byServers = overridesByServers(etcd)
    const overrides: Override[] = []
    for (const [list, rows] of byServers) {
      const servers = list.split(';')
      const folders = new Set(
        rows.map(({ group, resource }) =>
          resourcePrefix({ group, plural: resource, isCustom: false }),
        ),
      )
      const opened = await openEngine({ ...etcd, store: { ...main, servers } }, parts)
      const { root, clock, log, transformer, random, metrics, memory, traced, leaseOptions } = parts
      const { monotonicMs } = clock
      const engine = owned.use(
        new MeasuredEngine(traced(opened.engine), {
          root,
          metrics,
          monotonicMs,
          sharesMetricsOf: parts.engine,
        }),
      )
      const grant: GrantLease = (ttlSeconds, options) => engine.grantLease(ttlSeconds, options)
      const leases = new Leases(grant, clock, leaseOptions)
      const store = new Store(engine, { transformer, leases, random })
      owned.use(opened.startCompaction())
      const cache = owned.use(new Cache({ engine, store, transformer, root, clock, log, memory }))
      const ended = new AbortController()
      owned.defer(() => ended.abort())
      void cache.startLater(ended.signal)
      overrides.push({ servers, folders, cache, store, readSize: opened.readSize })
    }
    return new Overrides(overrides, owned.move())
  }

  /** Undefined: the main etcd has the resource. */
  of = (resource: Resource): Override | undefined => {
    if (this.#overrides.length === 0 || resource.isCustom) return undefined
    const folder = resourcePrefix(resource)
    return this.#overrides.find(({ folders }) => folders.has(folder))
  }

  get caches(): readonly Cache[] {
    return this.#overrides.map(({ cache }) => cache)
  }

  get readSizes(): readonly Override['readSize'][] {
    return this.#overrides.map(({ readSize }) => readSize)
  }

  health(): readonly EtcdHealth[] {
    return this.#overrides.map(({ servers, cache }) => ({ servers, fault: faultOf(cache) }))
  }

  /** By name only: without one of them the server is still of use, and a load balancer must not take it for dead. */
  get checks(): readonly HealthCheck[] {
    return this.#overrides.map(({ cache }, at) => ({
      name: `etcd-override-${at}`,
      fault: () => faultOf(cache),
      isSeparate: true,
    }))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync()
  }
}

type OverrideRow = Config['storage']['overrides'][number]

const overridesByServers = ({ overrides }: Config['storage']): Map<string, OverrideRow[]> =>
  Map.groupBy(overrides.filter(isStored), ({ servers }) => servers.join(';'))

/** How many etcds there are besides the main one. */
export const otherEtcds = ({ storage }: Config): number =>
  storage.store.kind === 'etcd' ? overridesByServers(storage).size : 0

/** As upstream, Events of their own group are stored as those of the core group, whose override counts. */
const isStored = ({ group }: { readonly group: string }): boolean => group !== 'events.k8s.io'

const faultOf = (cache: Cache): string | undefined =>
  cache.isLive ? undefined : 'nothing is heard from etcd'
