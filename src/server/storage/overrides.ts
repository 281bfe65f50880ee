/**
 * Resources whose objects are stored in a separate etcd (--etcd-servers-overrides). Each separate
 * etcd has its own watch, revision checks and compaction. Its revisions are never compared with
 * those of another etcd. If one etcd is down, the resources in the others are still served.
 */
import type { Cache } from '../../storage/cache/cache.ts'
import type { Config } from '../../config/config.ts'
import type { EtcdHealth } from '../../request/discovery/components.ts'
import type { HealthCheck } from '../../request/discovery/health.ts'
import type { Resource } from '../../registry/resource.ts'
import { resourcePrefix } from '../../storage/keys.ts'
import { type OpenEngineOptions, openEngine } from '../../storage/open-engine.ts'
import { type Database, type DatabaseOptions, openDatabase } from './open-database.ts'

type Override = Pick<Database, 'cache' | 'store' | 'readSize'> & {
  readonly servers: readonly string[]
  /** Folders of the resources in this etcd, which are key prefixes relative to the root prefix. */
  readonly folders: ReadonlySet<string>
}

export class Overrides implements AsyncDisposable {
  readonly #overrides: readonly Override[]
  readonly #owned: AsyncDisposableStack

  private constructor(overrides: readonly Override[], owned: AsyncDisposableStack) {
    this.#overrides = overrides
    this.#owned = owned
  }

  /**
   * Opens the separate etcds. Does not wait for an etcd that is down, but retries in the
   * background. Fails if an etcd cannot be used at all.
   */
  static async open(
    { storage: etcd }: Config,
    etcdOptions: OpenEngineOptions,
    databaseOptions: DatabaseOptions,
  ): Promise<Overrides> {
    const { store: main } = etcd
    await using owned = new AsyncDisposableStack()
    if (main.kind !== 'etcd') return new Overrides([], owned.move())
    const overrides: Override[] = []
    for (const [list, rows] of overridesByServers(etcd)) {
      const servers = list.split(';')
      const folders = new Set(
        rows.map(({ group, resource }) =>
          resourcePrefix({ group, plural: resource, isCustom: false }),
        ),
      )
      const opened = await openEngine({ ...etcd, store: { ...main, servers } }, etcdOptions)
      const { cache, store, readSize } = owned.use(openDatabase(opened, databaseOptions))
      const ended = new AbortController()
      owned.defer(() => ended.abort())
      void cache.startLater(ended.signal)
      overrides.push({ servers, folders, cache, store, readSize })
    }
    return new Overrides(overrides, owned.move())
  }

  /**
   * Returns the override that stores a resource. Returns undefined if the resource is stored in the
   * main etcd.
   */
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

  /**
   * Health checks that run only if they are requested by name. The server is still useful if one of
   * these etcds is down, so a load balancer must not treat the server as dead.
   */
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

/** Number of etcds in addition to the main one. */
export const otherEtcds = ({ storage }: Config): number =>
  storage.store.kind === 'etcd' ? overridesByServers(storage).size : 0

/**
 * Whether an override takes effect. As in kube-apiserver, Events of the group events.k8s.io are
 * stored with the Events of the core group. Therefore the override of the core group applies to
 * them.
 */
const isStored = ({ group }: { readonly group: string }): boolean => group !== 'events.k8s.io'

const faultOf = (cache: Cache): string | undefined =>
  cache.isLive ? undefined : 'etcd does not respond'
