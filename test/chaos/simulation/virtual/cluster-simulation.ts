/**
 * The storage simulation of one seed: a database in memory, two replicas of the server's storage
 * and cache, clients, faults, and judge.ts. All of them run in the same virtual time.
 */
import { SILENCE_MAX_MS } from '../../../../src/storage/feed.ts'
import { sleep, type Timer } from '../../../../src/lib/time/timers.ts'
import { rangeOf } from '../../../../src/storage/keys.ts'
import type { Commit } from '../../../../src/storage/local-feed-stream.ts'
import { MemoryEngine } from '../../../../src/storage/memory/memory-engine.ts'
import { newForm, readWire } from '../form.ts'
import { compareState } from '../judge.ts'
import { prefix } from '../operations.ts'
import { Random } from '../random.ts'
import { disturbances } from './disturb.ts'
import { chooseSettings, type Settings } from './settings.ts'
import { SimClients } from './sim-clients.ts'
import { SimDefinitions } from './sim-crds.ts'
import { SimPorts } from './sim-ports.ts'
import { SimQuota } from './sim-quota.ts'
import { root, SimReplica } from './sim-replica.ts'
import { Truth } from './truth.ts'
import { VirtualTime } from './virtual-time.ts'

/** Time within which everything must work again after the last fault was repaired. */
const RECOVERY_MS_MAX = 30_000
/**
 * Maximum number of steps with faults. Only busy simulations reach it. Simulating another seed
 * finds more faults than a longer simulation of the same seed.
 */
const STEPS_MAX = 3_000
/**
 * Time without faults after the steps with faults, because some problems become visible only later.
 */
const CALM_MS = 1_500
/** Interval at which the replicas' health is checked. */
const HEALTH_MS = 500
/**
 * Virtual time that passes after all components have stopped. Timers that were pending can still
 * fire in this time, but must not start new timers.
 */
const AFTERLIFE_MS = 60_000

export class ClusterSimulation {
  readonly time: VirtualTime
  readonly settings: Settings
  readonly truth = new Truth()
  readonly engine: MemoryEngine
  readonly replicas: readonly SimReplica[]
  readonly clients: SimClients
  readonly ports: SimPorts
  readonly quota: SimQuota
  readonly definitions: SimDefinitions
  readonly #random: Random
  readonly #faults: string[] = []

  constructor(seed: number, onLine?: (line: string) => void) {
    // Multiply the seed by a large odd number, so that the random numbers of consecutive seeds are
    // independent.
    this.#random = new Random(Math.imul(seed + 1, 0x9e3779b1))
    const random = this.#random
    this.settings = chooseSettings(random.fork('settings'))
    const time = new VirtualTime(random.fork('time'), onLine)
    this.time = time
    const onCommit = (commit: Commit): void => {
      this.truth.onCommit(commit)
      this.definitions.onCommit(commit)
    }
    this.engine = new MemoryEngine({ time, onCommit })
    const { settings, truth, engine } = this
    const log = (level: string, message: string, fields?: object): void => {
      time.note(`${level} ${message} ${JSON.stringify(fields)}`)
      const isForeseen = message.startsWith('the database was replaced') && truth.isRestored
      if (level === 'error' && !isForeseen)
        this.#faults.push(`logged: ${message} ${JSON.stringify(fields)}`)
    }
    this.replicas = ['a', 'b'].map(
      (name) => new SimReplica({ name, engine, time, random: random.fork(name), settings, log }),
    )
    const { replicas } = this
    this.ports = new SimPorts(replicas, time, random.fork('ports'))
    this.quota = new SimQuota(replicas, time)
    this.definitions = new SimDefinitions(replicas, time, log)
    const { ports, quota, definitions } = this
    this.clients = new SimClients({
      replicas,
      truth,
      settings,
      ports,
      quota,
      definitions,
      time,
      random: random.fork('clients'),
    })
  }

  /** Runs the simulation and returns all faults. */
  async run(): Promise<string[]> {
    const { time, clients, replicas, settings } = this
    time.note(JSON.stringify(settings))
    for (const { cache } of replicas) await this.#started(cache)
    for (const replica of replicas.slice(0, 1)) await this.quota.start(replica)
    this.definitions.start()
    clients.start()
    const health = this.#watchHealth()
    await this.#disturb()
    for (const { engine } of replicas) engine.weather = 'well'
    for (const replica of replicas) await this.#recovered(replica)
    await sleep(time, CALM_MS)
    await clients.stopOperating()
    await this.#caughtUp()
    await clients.stopWatching()
    health.close()
    this.#faults.push(...this.truth.judge())
    // The final checks run on a reliable network.
    for (const { engine } of replicas) engine.cutShare = 0
    const [one] = replicas
    if (one !== undefined) this.#faults.push(...(await this.definitions.judge(one)))
    await this.definitions.stop()
    for (const replica of replicas) {
      this.#faults.push(...(await this.ports.judge(replica)), ...(await this.quota.judge(replica)))
      this.#faults.push(...(await replica.findFaults()))
    }
    return this.#faults
  }

  /** Stops all components, some of them in the middle of an operation. Returns leaks as faults. */
  async end(): Promise<string[]> {
    const { time, engine, replicas } = this
    const random = this.#random.fork('end')
    let waiting = 0
    for (const replica of replicas) {
      for (const read of this.#useLate(replica, random)) {
        waiting++
        void read.catch(() => undefined).then(() => waiting--)
      }
    }
    await engine.change({ key: `${root}late/x`, expected: 0, write: { put: Buffer.from('{}') } })
    if (random.chance(0.5)) engine.compact(engine.stats().revision)
    for (const { engine: own } of replicas)
      own.weather = random.pick(['well', 'well', 'hung', 'leaderless'])
    // Wait until broken streams are reopened, which takes 20 ms, and until some of the following
    // messages have arrived.
    await sleep(time, 20 + random.next() * 6 * this.settings.latencyMs)
    for (const replica of replicas) await replica[Symbol.asyncDispose]()
    await sleep(time, AFTERLIFE_MS)
    const faults: string[] = []
    if (waiting > 0) faults.push(`${waiting} readers still wait for a cache that has ended`)
    const { feeds } = engine.stats()
    if (feeds > 0) faults.push(`leak: ${feeds} feeds are open at the end`)
    for (const { name, engine: own } of replicas) {
      if (own.calls > 0)
        faults.push(`leak: ${own.calls} calls of ${name} are in progress at the end`)
    }
    await engine[Symbol.asyncDispose]()
    if (time.pending > 0) faults.push(`leak: ${time.pending} timers are left at the end`)
    return faults
  }

  /**
   * Waits until a replica returns the restored state in all reads. In the meantime, every
   * linearizable read must already return the restored state.
   */
  async noticed(replica: SimReplica): Promise<void> {
    const until = this.time.nowMs + RECOVERY_MS_MAX
    for (;;) {
      const { model, history } = this.truth
      const { floor } = model
      const latest = await this.#list(replica, 'latest')
      if (latest !== undefined) model.noteReading({ scope: { prefix }, floor, ...latest })
      const any = latest === undefined ? undefined : await this.#list(replica, 'any')
      if (any !== undefined && any.revision <= history.revision) {
        if (compareState(any.items, history.stateAt(prefix, any.revision)) === undefined) return
      }
      if (this.time.nowMs > until)
        return this.#fault(`${replica.name} did not notice that the database was restored`)
      await sleep(this.time, 50)
    }
  }

  /**
   * Starts reads of a resource that the cache does not contain yet. Then usually breaks the
   * connection.
   */
  #useLate({ cache, engine }: SimReplica, random: Random): Promise<unknown>[] {
    const reader = cache.resource({ ...newForm(), name: 'late', prefix: `${root}late/` })
    const range = rangeOf(`${root}late/`)
    const reads = [
      () => reader.list(range, 'latest'),
      () => reader.list(range, 'any'),
      () => reader.watch({ range, start: { initial: 'latest' } }),
      () => reader.watch({ range, start: { after: 1 } }),
    ]
    const begun = reads.filter(() => random.chance(0.5)).map((read) => read())
    if (random.chance(0.7)) engine.weather = 'down'
    return begun
  }

  /** Starts a cache and retries, like a server that starts while the database is unreachable. */
  async #started(cache: SimReplica['cache']): Promise<void> {
    for (;;) {
      try {
        return await cache.start()
      } catch {
        await sleep(this.time, 100)
      }
    }
  }

  async #list({ reader }: SimReplica, at: 'any' | 'latest') {
    const listed = await reader.list(rangeOf(prefix), at).catch(() => undefined)
    return (
      listed && {
        revision: listed.revision,
        items: listed.items.map((item) => readWire(item.key, item.wire())),
      }
    )
  }

  async #disturb(): Promise<void> {
    const { time, settings } = this
    const random = this.#random.fork('faults')
    const untilMs = settings.seconds * 1000
    while (time.nowMs < untilMs && time.steps < STEPS_MAX) {
      await sleep(time, random.next() * settings.calmMs)
      const name = random.pick(settings.faults)
      time.note(`fault ${name}`)
      await disturbances[name](this, random)
    }
  }

  /**
   * Checks the health of the replicas at regular intervals. A replica must report that it is not
   * live if it has received nothing from the database for too long.
   */
  #watchHealth(): Timer {
    const reported = new Set<string>()
    return this.time.every(HEALTH_MS, () => {
      for (const { name, cache, engine } of this.replicas) {
        const silentMs = this.time.nowMs - engine.heardAtMs
        if (cache.isLive && silentMs > SILENCE_MAX_MS + HEALTH_MS && !reported.has(name)) {
          reported.add(name)
          this.#fault(
            `${name} reports that it is live, but has received nothing for ${Math.round(silentMs)} ms`,
          )
        }
      }
    })
  }

  async #recovered(replica: SimReplica): Promise<void> {
    const { time } = this
    const until = time.nowMs + RECOVERY_MS_MAX
    for (;;) {
      const { model } = this.truth
      const { floor } = model
      const listed = await this.#list(replica, 'latest')
      if (listed !== undefined) model.noteReading({ scope: { prefix }, floor, ...listed })
      if (listed !== undefined && replica.cache.isLive) return
      if (time.nowMs > until)
        return this.#fault(`${replica.name} did not recover within ${RECOVERY_MS_MAX} ms`)
      await sleep(time, 20)
    }
  }

  /** Waits until the watchers have received all events. */
  async #caughtUp(): Promise<void> {
    const { truth, time } = this
    const until = time.nowMs + RECOVERY_MS_MAX
    const isBehind = (): boolean =>
      truth.replays.some((replay) => replay.differenceAt(truth.history) !== undefined)
    while (isBehind() && time.nowMs < until) await sleep(time, 50)
  }

  #fault(fault: string): void {
    if (this.#faults.includes(fault)) return
    this.time.note(`FAULT ${fault}`)
    this.#faults.push(fault)
  }
}
