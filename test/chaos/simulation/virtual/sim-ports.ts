/**
 * Clients of both replicas allocate and release node ports. No port may be allocated twice. At the
 * end, each allocated port must belong to a client, unless the response to its allocation or
 * release was lost. In that case, the port stays allocated until the repair loop releases it.
 */
import { PortError } from '../../../../src/request/allocators/number-set.ts'
import { RangeRecord } from '../../../../src/request/allocators/range-record.ts'
import { StorageError } from '../../../../src/storage/errors.ts'
import type { Random } from '../random.ts'
import { root, type SimReplica } from './sim-replica.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Range of ports that is so small that it is sometimes exhausted. */
const range = { first: 30000, last: 30015 }
const PORTS = range.last - range.first + 1

export class SimPorts {
  readonly #records: ReadonlyMap<SimReplica, RangeRecord>
  readonly #held = new Set<number>()
  /** Ports whose release got no response, so that they may still be allocated. */
  readonly #doubtful = new Set<number>()
  readonly #faults: string[] = []
  /**
   * Number of allocations without a response. They may have succeeded, but their ports are unknown.
   */
  #unknown = 0
  #life = 0

  constructor(replicas: readonly SimReplica[], time: VirtualTime, random: Random) {
    this.#records = new Map(
      replicas.map((replica) => [
        replica,
        this.#newRecord(replica, time, random.fork(replica.name)),
      ]),
    )
  }

  async act(replica: SimReplica, random: Random): Promise<void> {
    const record = this.#records.get(replica)
    if (record === undefined) return
    const isTake = this.#held.size === 0 || random.chance(0.55)
    await (isTake
      ? this.#take(record, random)
      : this.#release(record, random.pick([...this.#held])))
  }

  /** Called when the database was restored. The allocated ports are unknown after a restore. */
  restored(): void {
    this.#life++
    this.#held.clear()
    this.#doubtful.clear()
    this.#unknown = PORTS
  }

  async judge(replica: SimReplica): Promise<string[]> {
    const taken = new Set(await this.#records.get(replica)?.attempt((set) => set.list()))
    const lost = [...this.#held].filter((port) => !taken.has(port))
    const extra = [...taken].filter((port) => !this.#held.has(port) && !this.#doubtful.has(port))
    const faults = [...this.#faults]
    if (lost.length > 0)
      faults.push(`ports ${lost.join(' ')} are in use, but not allocated in the record`)
    if (extra.length > this.#unknown) {
      faults.push(
        `leak: ports ${extra.join(' ')} are allocated but not in use; ${this.#unknown} allocations were ambiguous`,
      )
    }
    return faults
  }

  async #take(record: RangeRecord, random: Random): Promise<void> {
    const life = this.#life
    const named = random.chance(0.3) ? random.between(range.first, range.last) : undefined
    try {
      const port = await record.change((set) => {
        if (named === undefined) return set.takeAny()
        set.take(named)
        return named
      })
      if (life !== this.#life) return
      if (this.#held.has(port)) this.#faults.push(`port ${port} was allocated twice`)
      this.#doubtful.delete(port)
      this.#held.add(port)
    } catch (error) {
      if (error instanceof PortError) return
      if (isInDoubt(error)) this.#unknown++
    }
  }

  async #release(record: RangeRecord, port: number): Promise<void> {
    const life = this.#life
    this.#held.delete(port)
    this.#doubtful.add(port)
    try {
      await record.change((set) => set.release(port))
      // The release has succeeded, unless the database was restored in the meantime. In this case,
      // the result is unknown.
      if (life === this.#life) this.#doubtful.delete(port)
    } catch (error) {
      isInDoubt(error)
    }
  }

  #newRecord({ store, cache }: SimReplica, time: VirtualTime, random: Random): RangeRecord {
    const text = `${range.first}-${range.last}`
    const key = `${root}ranges/servicenodeports`
    const life = (): number => cache.databaseLife
    const chance = { random: () => random.next(), time }
    return new RangeRecord({
      store,
      key,
      range,
      text,
      adopt: () => Buffer.alloc(0),
      life,
      ...chance,
    })
  }
}

/** Whether a failed call may have taken effect. Rethrows errors that are not from the database. */
function isInDoubt(error: unknown): boolean {
  if (!(error instanceof StorageError)) throw error
  return error.ambiguous
}
