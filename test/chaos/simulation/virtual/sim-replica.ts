/**
 * The storage and the cache of a server, wired together as in a real server. They access the
 * database over a faulty network.
 */
import { Cache } from '../../../../src/storage/cache/cache.ts'
import type { Reader } from '../../../../src/storage/cache/reader.ts'
import type { Log } from '../../../../src/lib/telemetry/log.ts'
import type { Engine } from '../../../../src/storage/engine.ts'
import { Leases } from '../../../../src/storage/leases.ts'
import { Store } from '../../../../src/storage/store.ts'
import { identity } from '../../../../src/storage/transform.ts'
import { newForm } from '../form.ts'
import { countLeakedBytes } from '../leaked-bytes.ts'
import { prefix } from '../operations.ts'
import type { Random } from '../random.ts'
import { FaultyEngine } from './faulty-engine.ts'
import type { Settings } from './settings.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Use label indexes although there are only a few objects. */
const indexes = { looksMin: 5 }

export const root = '/registry/'
/** Prefix of a resource to which no client writes. */
export const quietPrefix = `${root}quiet/`

export type SimReplicaOptions = {
  readonly name: string
  readonly engine: Engine
  readonly time: VirtualTime
  readonly random: Random
  readonly settings: Settings
  readonly log: Log
}

export class SimReplica implements AsyncDisposable {
  readonly name: string
  readonly engine: FaultyEngine
  readonly store: Store
  readonly cache: Cache
  readonly reader: Reader
  readonly quiet: Reader
  readonly #time: VirtualTime

  constructor({ name, engine, time, random, settings, log }: SimReplicaOptions) {
    this.name = name
    this.#time = time
    this.engine = new FaultyEngine({ name, engine, time, random: random.fork('network') })
    this.engine.latencyMs = settings.latencyMs
    this.engine.cutShare = settings.cutShare
    const chance = random.fork('store')
    const leases = new Leases((ttl, call) => this.engine.grantLease(ttl, call), time)
    this.store = new Store(this.engine, {
      transformer: identity,
      leases,
      random: () => chance.next(),
      timers: time,
      monotonicMs: time.monotonicMs,
    })
    this.cache = new Cache({
      engine: this.engine,
      store: this.store,
      transformer: identity,
      root,
      clock: time,
      timers: time,
      log,
      budgets: { indexes, ...(settings.pastBytes === 0 ? {} : { pastBytes: settings.pastBytes }) },
      ...(settings.unusedMs === 0 ? {} : { unusedMs: settings.unusedMs }),
    })
    this.reader = this.cache.resource({ ...newForm(), name: 'things', prefix })
    this.quiet = this.cache.resource({ ...newForm(), name: 'quiet', prefix: quietPrefix })
  }

  /**
   * Returns the faults that exist after all clients have disconnected: differences from the
   * database, and leaks.
   */
  async findFaults(): Promise<string[]> {
    const faults: string[] = []
    for (const differing of await this.cache.check())
      faults.push(`the cache of ${this.name} differs in ${differing}`)
    const { watchers } = this.cache.stats()
    if (watchers > 0) faults.push(`leak: ${this.name} still has ${watchers} watchers`)
    for (const one of [prefix, quietPrefix]) this.cache.remove(one)
    const leaked = await countLeakedBytes(this.cache, this.#time)
    if (leaked > 0) faults.push(`leak: the slabs of ${this.name} still hold ${leaked} bytes`)
    if (this.engine.streams > 1)
      faults.push(`leak: ${this.name} has ${this.engine.streams} streams, one is the feed's`)
    return faults
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cache[Symbol.asyncDispose]()
  }
}
