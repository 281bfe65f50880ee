/**
 * Runs the clients of the storage simulation until they are stopped: writers, readers and watchers
 * on each replica.
 */
import { sleep } from '../../../../src/lib/time/timers.ts'
import { rangeOf } from '../../../../src/storage/keys.ts'
import { cachedReads, pagedReads, readForWrite, skims } from '../cached-operations.ts'
import { isOdd } from '../form.ts'
import {
  type Client,
  namespaces,
  operate,
  prefix,
  reads,
  type WeightedOperation,
  writes,
} from '../operations.ts'
import type { Random } from '../random.ts'
import { Replay } from '../replay.ts'
import { keepWatching } from '../watcher.ts'
import type { Settings } from './settings.ts'
import type { SimDefinitions } from './sim-crds.ts'
import type { SimPorts } from './sim-ports.ts'
import type { SimQuota } from './sim-quota.ts'
import { quietPrefix, type SimReplica } from './sim-replica.ts'
import type { Truth } from './truth.ts'
import type { VirtualTime } from './virtual-time.ts'

const KINDS: readonly { readonly kind: string; readonly choices: readonly WeightedOperation[] }[] =
  [
    { kind: 'writer0', choices: writes },
    { kind: 'writer1', choices: writes },
    { kind: 'reader', choices: reads },
    { kind: 'cached0', choices: cachedReads },
  ]

const WATCHERS: readonly {
  readonly kind: string
  readonly prefix: string
  readonly selects?: (tag: string) => boolean
  /** Whether the watcher resumes on any replica after its connection breaks. */
  readonly roams: boolean
}[] = [
  { kind: 'all', prefix, roams: false },
  { kind: 'namespace', prefix: `${prefix}${namespaces[1]}/`, roams: true },
  { kind: 'odd', prefix, selects: isOdd, roams: true },
]

/** Maximum duration of a watch on the resource to which no client writes. */
const QUIET_MS_MAX = 2_000

export type SimClientsOptions = {
  readonly replicas: readonly SimReplica[]
  readonly truth: Truth
  readonly settings: Settings
  readonly ports: SimPorts
  readonly quota: SimQuota
  readonly definitions: SimDefinitions
  readonly time: VirtualTime
  readonly random: Random
}

export class SimClients {
  /**
   * Watches that were opened and closed on the resource to which no client writes. They are used to
   * detect leaks.
   */
  readonly closed: WeakRef<object>[] = []
  readonly #options: SimClientsOptions
  readonly #stopping = new AbortController()
  readonly #clients: Promise<void>[] = []
  #watching = new AbortController()
  #watchers: Promise<void>[] = []
  #lives = 0
  #held: Promise<void> | undefined

  constructor(options: SimClientsOptions) {
    this.#options = options
  }

  start(): void {
    for (const replica of this.#options.replicas) {
      const pagers = Array.from({ length: this.#options.settings.pagers }, (_, i) => ({
        kind: `pager${i}`,
        choices: pagedReads,
        isHasty: true,
      }))
      const skimmers = Array.from({ length: this.#options.settings.skimmers }, (_, i) => ({
        kind: `skimmer${i}`,
        choices: skims,
        isHasty: false,
      }))
      const patient = KINDS.map((one) => ({ ...one, isHasty: false }))
      for (const { kind, choices, isHasty } of [...patient, ...pagers, ...skimmers]) {
        const act = (name: string, random: Random): Promise<void> =>
          this.#operate(replica, { name, random, choices })
        this.#clients.push(this.#repeat(`${replica.name}-${kind}`, act, isHasty))
      }
      const { ports, quota, definitions } = this.#options
      this.#clients.push(
        this.#repeat(`${replica.name}-crd`, (_, random) => definitions.act(replica, random)),
      )
      for (const at of [0, 1]) {
        const name = `${replica.name}-ports${at}`
        this.#clients.push(this.#repeat(name, (_, random) => ports.act(replica, random)))
        this.#clients.push(this.#repeat(`${replica.name}-quota${at}`, () => quota.act(replica)))
      }
      this.#clients.push(
        this.#repeat(`${replica.name}-quiet`, (_, random) => this.#watchQuietly(replica, random)),
      )
    }
    this.startWatching()
  }

  startWatching(): void {
    const { replicas, truth, random, time } = this.#options
    this.#watching = new AbortController()
    this.#lives++
    for (const replica of replicas) {
      for (const { kind, prefix: watched, selects, roams } of WATCHERS) {
        const name = `${replica.name}-${kind}-${this.#lives}`
        const replay = new Replay(name, watched, selects)
        truth.replays.push(replay)
        const client = {
          replicas: roams ? replicas : [replica],
          replay,
          range: rangeOf(watched),
          isFiltered: selects !== undefined,
          model: () => truth.model,
          random: random.fork(name),
          time,
        }
        this.#watchers.push(keepWatching(client, this.#watching.signal))
      }
    }
  }

  async stopWatching(): Promise<void> {
    this.#watching.abort()
    await Promise.all(this.#watchers)
    this.#watchers = []
  }

  /** Pauses all operations until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held = promise
    return () => {
      this.#held = undefined
      resolve()
    }
  }

  async stopOperating(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#clients)
  }

  /** Runs one random operation. */
  async #operate(
    replica: SimReplica,
    {
      name,
      random,
      choices,
    }: { name: string; random: Random; choices: readonly WeightedOperation[] },
  ): Promise<void> {
    const { truth, time } = this.#options
    const { store, reader } = replica
    const cached: Client['cached'] = (key) => readForWrite(reader, key, random)
    const work = (ms: number): void => time.work(ms)
    await operate({ name, store, reader, model: truth.model, random, time, cached, work }, choices)
  }

  async #watchQuietly({ quiet }: SimReplica, random: Random): Promise<void> {
    const { time, truth } = this.#options
    try {
      const watcher = await quiet.watch({
        range: rangeOf(quietPrefix),
        start: { initial: 'any', markEnd: true },
      })
      const leaving = time.after(random.between(0, QUIET_MS_MAX), () => watcher.close())
      const bookmarks = time.every(100, () => watcher.requestBookmark())
      for await (const events of watcher) {
        for (const { type } of events)
          if (type !== 'BOOKMARK') truth.model.noteFault(`${type} of a quiet resource`)
      }
      leaving.close()
      bookmarks.close()
      this.closed.push(new WeakRef(watcher))
    } catch {
      // Ignore the error, because the database may be unreachable. Other clients check that reads
      // work again in the end.
    }
  }

  /**
   * Repeats an operation until the clients are stopped. A client with `isHasty` pauses only rarely.
   */
  async #repeat(
    name: string,
    act: (name: string, random: Random) => Promise<void>,
    isHasty = false,
  ): Promise<void> {
    const { random, settings, time } = this.#options
    const own = random.fork(name)
    while (!this.#stopping.signal.aborted) {
      await this.#held
      await act(name, own)
      // Pause only sometimes. The operations between two pauses form a burst, which causes
      // conflicts.
      await sleep(time, own.next() * (own.chance(isHasty ? 0.95 : 0.3) ? 1 : settings.thinkMs))
    }
  }
}
