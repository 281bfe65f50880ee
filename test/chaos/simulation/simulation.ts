/**
 * One run of the fault suite. It consists of an etcd cluster with one or more members, of replicas
 * of the server's storage components, and of clients that use these replicas. The replicas use etcd
 * through proxies that inject faults. The run itself reads the real history from etcd directly.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../../src/lib/telemetry/log.ts'
import { type Cluster, startCluster } from '../../support/harness/cluster.ts'
import { compact, readHistory, readRevision } from '../../support/harness/gateway.ts'
import { type FaultProxy, startProxy } from '../../support/harness/proxy.ts'
import { JumpingClock } from './clock.ts'
import { History } from './history.ts'
import { judge } from './judge.ts'
import { Load } from './load.ts'
import { Model } from './model.ts'
import { prefix } from './operations.ts'
import type { Random } from './random.ts'
import { type Replica, startReplica } from './replica.ts'

/** Time within which everything must work again after the last fault was repaired. */
const RECOVERY_MS_MAX = 15_000

/** Maximum time for which the history can be unreadable, for example during an election. */
const TRUTH_MS_MAX = 20_000

export type WorldOptions = {
  readonly members: number
  readonly replicas: number
  readonly etcdArgs?: readonly string[]
  readonly random: Random
}

export class Simulation implements AsyncDisposable {
  readonly cluster: Cluster
  readonly replicas: readonly Replica[]
  readonly model: Model
  readonly random: Random
  readonly clock: JumpingClock
  readonly load: Load
  readonly #history: History

  constructor(parts: {
    cluster: Cluster
    replicas: readonly Replica[]
    model: Model
    clock: JumpingClock
    random: Random
    history: History
  }) {
    this.cluster = parts.cluster
    this.replicas = parts.replicas
    this.model = parts.model
    this.clock = parts.clock
    this.random = parts.random
    this.#history = parts.history
    this.load = new Load(this.replicas, this.model, this.random)
  }

  /** Proxies of all replicas. */
  get proxies(): readonly FaultProxy[] {
    return this.replicas.flatMap((replica) => replica.proxies)
  }

  /**
   * Reads the history since the last call. This method must be called before the history is
   * compacted, and at the end.
   */
  async catchUp(): Promise<number> {
    const until = performance.now() + TRUTH_MS_MAX
    for (let attempt = 0; ; attempt++) {
      const url = this.cluster.member(attempt % this.cluster.members.length).clientUrl
      try {
        const revision = await readRevision(url)
        const changes = await readHistory(url, { from: this.#history.revision + 1, to: revision })
        this.#history.add(
          changes.filter((change) => change.key.startsWith(prefix)),
          revision,
        )
        return revision
      } catch (error) {
        if (performance.now() > until)
          throw new Error('the history cannot be read from etcd', { cause: error })
        await sleep(100)
      }
    }
  }

  /** Compacts the history up to the current revision, as etcd operators do. */
  async compact(): Promise<void> {
    const revision = await this.catchUp()
    const until = performance.now() + TRUTH_MS_MAX
    for (;;) {
      try {
        await compact(this.cluster.member(await this.cluster.leader()).clientUrl, revision)
        return
      } catch (error) {
        // The revision has already been compacted by an earlier attempt whose response was lost.
        if (String(error).includes('has been compacted')) return
        if (performance.now() > until) throw error
        await sleep(100)
      }
    }
  }

  /**
   * Waits until every replica works again. Records a fault if a replica does not work within
   * RECOVERY_MS_MAX.
   */
  async recover(): Promise<void> {
    await this.cluster.ready()
    const startMs = performance.now()
    await Promise.all(
      this.replicas.map(async (replica) => {
        if (await this.load.serves(replica, RECOVERY_MS_MAX)) return
        const waitedMs = Math.round(performance.now() - startMs)
        this.model.noteFault(
          `replica ${replica.name} does not serve ${waitedMs} ms after the last fault was healed`,
        )
      }),
    )
  }

  /** Ends the load, waits until the watchers are up to date, and returns all faults. */
  async judge(): Promise<string[]> {
    await this.load.stopWriting()
    await this.catchUp()
    const until = performance.now() + RECOVERY_MS_MAX
    const isBehind = (): boolean =>
      this.load.replays.some((replay) => replay.differenceAt(this.#history) !== undefined)
    while (isBehind() && performance.now() < until) await sleep(50)
    await this.load.stop()
    // Read the history again. Since the last read, a pending write may have been applied, and
    // watchers may have received it.
    await this.catchUp()
    const ofReplicas = await Promise.all(this.replicas.map((replica) => replica.findFaults()))
    return [
      ...judge(this.model, this.#history),
      ...this.load.replays.flatMap((replay) => replay.judge(this.#history)),
      ...ofReplicas.flat(),
    ]
  }

  get figures(): string {
    const { writes, readings } = this.model
    const count = (outcome: string): number =>
      writes.filter((write) => write.result.outcome === outcome).length
    const events = this.load.replays.reduce((sum, replay) => sum + replay.events, 0)
    return (
      `${count('acknowledged')} writes, ${count('ambiguous')} ambiguous, ${count('refused')} refused, ` +
      `${readings.length} reads, ${events} events`
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.load.stop()
    for (const replica of this.replicas) await replica[Symbol.asyncDispose]()
    await this.cluster[Symbol.asyncDispose]()
  }
}

export async function startWorld(options: WorldOptions): Promise<Simulation> {
  const { random, etcdArgs = [] } = options
  const clock = new JumpingClock()
  const model = new Model()
  const log: Log = (level, message, fields) => {
    if (level === 'error')
      model.noteFault(`logged as an error: ${message} ${JSON.stringify(fields)}`)
  }
  const cluster = await startCluster({ size: options.members, args: etcdArgs })
  const replicas: Replica[] = []
  try {
    for (let index = 0; index < options.replicas; index++) {
      const proxies = await Promise.all(cluster.endpoints.map(startProxy))
      replicas.push(
        await startReplica({
          name: `r${index}`,
          proxies,
          clock,
          random: random.fork(`replica ${index}`),
          log,
        }),
      )
    }
    const history = new History(await readRevision(cluster.member(0).clientUrl))
    return new Simulation({ cluster, replicas, model, clock, random, history })
  } catch (error) {
    for (const replica of replicas) await replica[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
    throw error
  }
}
