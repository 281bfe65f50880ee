/**
 * The storage and the cache of a server, wired together as in a real server. They access etcd
 * through proxies.
 */
import { Cache } from '../../../src/storage/cache/cache.ts'
import type { Reader } from '../../../src/storage/cache/reader.ts'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import type { Clock } from '../../../src/lib/time/clock.ts'
import type { Log } from '../../../src/lib/telemetry/log.ts'
import { systemTimers } from '../../../src/lib/time/timers.ts'
import type { Engine } from '../../../src/storage/engine.ts'
import { EtcdEngine } from '../../../src/storage/etcd-engine.ts'
import { Leases } from '../../../src/storage/leases.ts'
import { Store } from '../../../src/storage/store.ts'
import { identity } from '../../../src/storage/transform.ts'
import type { FaultProxy } from '../../support/harness/proxy.ts'
import { newForm } from './form.ts'
import { countLeakedBytes } from './leaked-bytes.ts'
import { prefix } from './operations.ts'
import type { Random } from './random.ts'

const root = '/registry/'

/**
 * Size in bytes of the buffer of recent events. It is so small that watchers have to read etcd's
 * history after a short disconnection.
 */
const SHORT_PAST_BYTES = 20_000

/** Use indexes for labels even if there are only a few objects. */
const indexes = { looksMin: 5 }

export type ReplicaOptions = {
  readonly name: string
  readonly proxies: readonly FaultProxy[]
  readonly clock: Clock
  readonly random: Random
  /** Log of the components. An error in this log is a fault of the run. */
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
   * Returns faults of the cache: differences from the database, leaked bytes and leaked watchers.
   */
  async findFaults(): Promise<string[]> {
    const faults: string[] = []
    if ((await this.cache.check()).length > 0)
      faults.push(`the cache of ${this.name} differs from the database`)
    this.cache.remove(prefix)
    const { watchers } = this.cache.stats()
    const leaked = await countLeakedBytes(this.cache, systemTimers)
    if (leaked > 0) faults.push(`leak: the slabs of ${this.name} still hold ${leaked} bytes`)
    if (watchers > 0) faults.push(`leak: ${this.name} still has ${watchers} watchers`)
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
