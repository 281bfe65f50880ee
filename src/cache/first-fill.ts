/**
 * When the server starts, what the database has comes into memory before readiness is told, as kube-apiserver does: all clients list
 * everything then, and who waited for readiness finds lists made. Requests are answered meanwhile, and begin with what they ask for.
 * What nobody asks for is let go of after five minutes like everything else.
 */
import type { Log } from '../lib/log.ts'
import { type Timers, inTime } from '../lib/timers.ts'
import type { KeyRange } from '../storage/keys.ts'

/** At once: some wait for etcd while another is printed. */
const LANES = 4
/** With more than this in memory no other resource is begun: a server must not need more to start than to serve. */
const BYTES_MAX = 256 << 20
/** Fewer are listed in some milliseconds when somebody asks; to read their kinds for all would make the start of an empty cluster slower by a seventh. */
const COUNT_MIN = 100
/** However much there is, the server is ready then. */
const READY_MS_MAX = 30_000

/** A resource that may have objects. */
export type Fillable = { readonly name: string; readonly range: KeyRange; readonly fill: () => Promise<void> }

export type FirstFillParts = {
  readonly count: (range: KeyRange) => Promise<{ readonly count: number }>
  /** What objects take in memory now. */
  readonly heldBytes: () => number
  readonly timers?: Timers
  readonly log: Log
}

export class FirstFill implements Disposable {
  readonly #parts: FirstFillParts
  #isDone = false
  #isStopped = false

  constructor(parts: FirstFillParts) {
    this.#parts = parts
  }

  /** Nobody need wait for it any longer. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Never fails: what could not be read is read when somebody asks for it. `whole`: all there is, so that one look at a new cluster is enough. */
  async run(resources: readonly Fillable[], whole: KeyRange): Promise<void> {
    const { timers } = this.#parts
    // All lanes take from the one iterator.
    const next = resources.values()
    const lanes = async (): Promise<void> => {
      if (await this.#hasMany(whole)) await Promise.all(Array.from({ length: LANES }, () => this.#fillAll(next)))
    }
    await inTime(lanes(), READY_MS_MAX, { late: () => undefined, ...(timers && { timers }) })
    this.#isDone = true
  }

  [Symbol.dispose](): void {
    this.#isStopped = true
  }

  async #hasMany(range: KeyRange): Promise<boolean> {
    try {
      return (await this.#parts.count(range)).count >= COUNT_MIN
    } catch (error) {
      if (!this.#isStopped) this.#parts.log('warn', 'the objects could not be counted', { error: String(error) })
      return true
    }
  }

  async #fillAll(resources: Iterable<Fillable>): Promise<void> {
    const { count, heldBytes, log } = this.#parts
    for (const { name, range, fill } of resources) {
      if (this.#isStopped || heldBytes() > BYTES_MAX) return
      try {
        if ((await count(range)).count >= COUNT_MIN) await fill()
      } catch (error) {
        if (this.#isStopped) return
        log('warn', 'a resource could not be brought into memory yet', { resource: name, error: String(error) })
      }
    }
  }
}
