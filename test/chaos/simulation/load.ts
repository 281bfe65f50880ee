/**
 * Runs clients until they are stopped: concurrent writers, readers and watchers on each replica.
 */
import { sleep, systemTime } from '../../../src/lib/time/timers.ts'
import { rangeOf } from '../../../src/storage/keys.ts'
import { cachedReads, readForWrite } from './cached-operations.ts'
import type { Model } from './model.ts'
import { isOdd } from './form.ts'
import {
  type Client,
  namespaces,
  operate,
  prefix,
  reads,
  type WeightedOperation,
  writes,
} from './operations.ts'
import type { Random } from './random.ts'
import { Replay } from './replay.ts'
import type { Replica } from './replica.ts'
import { keepWatching } from './watcher.ts'

/**
 * Number of clients of each replica: enough to compete for the same keys, but few enough to leave
 * CPU time for etcd.
 */
const CLIENTS_PER_REPLICA: readonly {
  readonly kind: string
  readonly count: number
  readonly choices: readonly WeightedOperation[]
}[] = [
  { kind: 'writer', count: 4, choices: writes },
  { kind: 'reader', count: 1, choices: reads },
  { kind: 'cached-reader', count: 3, choices: cachedReads },
]
/** Maximum pause between two operations of one client. */
const THINK_MS_MAX = 12

const WATCHERS_PER_REPLICA: readonly {
  readonly kind: string
  readonly prefix: string
  readonly selects?: (tag: string) => boolean
  /** Whether the watcher resumes on any replica after its connection breaks. */
  readonly roams: boolean
}[] = [
  { kind: 'all', prefix, roams: false },
  { kind: 'roaming', prefix, roams: true },
  { kind: 'namespace', prefix: `${prefix}${namespaces[1]}/`, roams: false },
  { kind: 'odd', prefix, selects: isOdd, roams: true },
]

export class Load {
  readonly replays: Replay[] = []
  readonly #replicas: readonly Replica[]
  readonly #model: Model
  readonly #random: Random
  readonly #writing = new AbortController()
  readonly #watching = new AbortController()
  readonly #clients: Promise<void>[] = []
  readonly #watchers: Promise<void>[] = []

  constructor(replicas: readonly Replica[], model: Model, random: Random) {
    this.#replicas = replicas
    this.#model = model
    this.#random = random
  }

  start(): void {
    for (const replica of this.#replicas) {
      for (const { kind, count, choices } of CLIENTS_PER_REPLICA) {
        for (let index = 0; index < count; index++) {
          this.#clients.push(this.#repeat(this.#client(replica, `${kind}${index}`), choices))
        }
      }
      for (const { kind, prefix: watched, selects, roams } of WATCHERS_PER_REPLICA) {
        const name = `${replica.name}-${kind}`
        const replay = new Replay(name, watched, selects)
        this.replays.push(replay)
        const replicas = roams ? this.#replicas : [replica]
        const random = this.#random.fork(name)
        const model = (): Model => this.#model
        const client = {
          replicas,
          replay,
          range: rangeOf(watched),
          isFiltered: selects !== undefined,
          model,
          random,
          time: systemTime,
        }
        this.#watchers.push(keepWatching(client, this.#watching.signal))
      }
    }
  }

  /**
   * Whether the replica acknowledges a write before the timeout, and then responds to a
   * linearizable list.
   */
  async serves(replica: Replica, timeoutMs: number): Promise<boolean> {
    const client = this.#client(replica, 'recovery')
    const until = performance.now() + timeoutMs
    while (performance.now() < until) {
      await operate(client, writes)
      const last = this.#model.writes.findLast((write) => write.tag?.startsWith(`${client.name}.`))
      if (last?.result.outcome === 'acknowledged') {
        const listed = await replica.reader.list(rangeOf(prefix), 'latest').catch(() => undefined)
        if (listed !== undefined) return true
      }
      await sleep(systemTime, 20)
    }
    return false
  }

  async stopWriting(): Promise<void> {
    this.#writing.abort()
    await Promise.all(this.#clients)
  }

  async stop(): Promise<void> {
    await this.stopWriting()
    this.#watching.abort()
    await Promise.all(this.#watchers)
  }

  #client(replica: Replica, name: string): Client {
    const fullName = `${replica.name}-${name}`
    const random = this.#random.fork(fullName)
    const { store, reader } = replica
    const cached: Client['cached'] = (key) => readForWrite(reader, key, random)
    return { name: fullName, store, reader, model: this.#model, random, time: systemTime, cached }
  }

  async #repeat(client: Client, choices: readonly WeightedOperation[]): Promise<void> {
    const pace = client.random.fork('pace')
    while (!this.#writing.signal.aborted) {
      await operate(client, choices)
      await sleep(systemTime, pace.between(0, THINK_MS_MAX))
    }
  }
}
