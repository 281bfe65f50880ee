/** The server's storage and cache, wired as the server does it, behind proxies of their own. */
import { Cache } from '../../../src/storage/cache/cache.ts'
import type { Reader } from '../../../src/storage/cache/reader.ts'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import type { Clock } from '../../../src/lib/time/clock.ts'
import type { Log } from '../../../src/lib/telemetry/log.ts'
import type { Engine } from '../../../src/storage/engine.ts'
import { EtcdEngine } from '../../../src/storage/etcd-engine.ts'
import { Leases } from '../../../src/storage/leases.ts'
import { Store } from '../../../src/storage/store.ts'
import { identity } from '../../../src/storage/transform.ts'
import type { FaultProxy } from '../../support/harness/proxy.ts'
import { newForm } from './form.ts'
import { prefix } from './operations.ts'
import type { Random } from './random.ts'

const root = '/registry/'

/** So little past that watchers who were away for a moment need the history of the database. */
const SHORT_PAST_BYTES = 20_000

/** Few objects, and yet indexes of labels. */
const indexes = { looksMin: 5 }

export type ReplicaOptions = {
  readonly name: string
  readonly proxies: readonly FaultProxy[]
  readonly clock: Clock
  readonly random: Random
  /** Told only what is an error: the parts heal the rest. */
  readonly log: Log
}

export class Replica implements AsyncDisposable {
  readonly name: string
  readonly proxies: readonly FaultProxy[]
  readonly store: Store
  readonly cache: Cache
  readonly reader: Reader
  readonly #engine: Engine

  constructor({ name, proxies, clock, random, log }: ReplicaOptions) {
    this.name = name
    this.proxies = proxies
    const engine = new EtcdEngine(
      new EtcdClient({ endpoints: proxies.map((proxy) => proxy.url), clock, log }),
    )
    const leases = new Leases((ttl, call) => engine.grantLease(ttl, call), clock)
    const store = new Store(engine, { transformer: identity, leases, random: () => random.next() })
    const budgets = { indexes, ...(random.chance(0.5) ? { pastBytes: SHORT_PAST_BYTES } : {}) }
    this.#engine = engine
    this.store = store
    this.cache = new Cache({ engine, store, transformer: identity, root, clock, log, budgets })
    this.reader = this.cache.resource({ ...newForm(), name: 'things', prefix })
  }

  /**
   * What the cache holds that it should not: differences from the database, and bytes that nobody
   * can reach.
   */
  async findFaults(): Promise<string[]> {
    const faults: string[] = []
    if ((await this.cache.check()).length > 0)
      faults.push(`the cache of ${this.name} differs from the database`)
    this.cache.remove(prefix)
    const { liveBytes, watchers } = this.cache.stats()
    if (liveBytes > 0)
      faults.push(`leak: the slabs of ${this.name} hold ${liveBytes} bytes for nobody`)
    if (watchers > 0) faults.push(`leak: ${this.name} has ${watchers} watchers of nobody`)
    return faults
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cache[Symbol.asyncDispose]()
    await this.#engine[Symbol.asyncDispose]()
    for (const proxy of this.proxies) await proxy[Symbol.asyncDispose]()
  }
}

export async function startReplica(options: ReplicaOptions): Promise<Replica> {
  const replica = new Replica(options)
  try {
    await replica.cache.start()
    return replica
  } catch (error) {
    await replica[Symbol.asyncDispose]()
    throw error
  }
}
