/**
 * Loads most resources into memory when the server starts, before it reports ready, as
 * kube-apiserver does. Many clients list all objects at startup, and clients that wait for
 * readiness find the lists already encoded. Earlier requests are also served, and load the
 * resources that they need. A resource that is not read is dropped after five minutes.
 */
import type { Log } from '../../lib/telemetry/log.ts'
import { type Timers, withTimeout } from '../../lib/time/timers.ts'
import type { KeyRange } from '../keys.ts'

/**
 * Number of resources that are loaded concurrently. While one of them is encoded, others can wait
 * for etcd.
 */
const LANES = 4
/**
 * If cached objects use more memory than this, no more resources are loaded. Thus a server does not
 * need more memory to start than to serve.
 */
const BYTES_MAX = 256 << 20
/**
 * Resources with fewer objects are not loaded, because listing them on the first request takes only
 * milliseconds. Loading them would require the schemas of all kinds, and an empty cluster would
 * start about 14 % more slowly.
 */
const COUNT_MIN = 100
/**
 * Resources with more objects are loaded on their first request instead. At 1 KB per object, such a
 * resource would exceed BYTES_MAX by itself and take longer than READY_MS_MAX.
 */
const COUNT_MAX = 250_000
/**
 * Maximum time that readiness waits. After this time, loading continues, and requests wait only for
 * the resources that they need.
 */
const READY_MS_MAX = 3_000

/** A resource that can be loaded. */
export type Fillable = {
  readonly name: string
  readonly range: KeyRange
  readonly fill: () => Promise<void>
}

export type FirstFillOptions = {
  readonly count: (range: KeyRange) => Promise<{ readonly count: number }>
  /** Returns the memory that cached objects currently use. */
  readonly heldBytes: () => number
  /** Maximum time that readiness waits. By default, and at most, READY_MS_MAX. */
  readonly readyMsMax?: number
  readonly timers?: Timers
  readonly log: Log
}

export class FirstFill implements Disposable {
  readonly #options: FirstFillOptions
  #isDone = false
  #isStopped = false

  constructor(options: FirstFillOptions) {
    this.#options = options
  }

  /** Whether readiness no longer has to wait for resources. */
  get isDone(): boolean {
    return this.#isDone
  }

  /**
   * Loads the resources. Never rejects: a resource that cannot be loaded now is loaded on its first
   * request. `whole` is the range of all resources. Its keys are counted first, so that a new
   * cluster needs only one count.
   */
  async run(resources: readonly Fillable[], whole: KeyRange): Promise<void> {
    const { timers, readyMsMax = READY_MS_MAX } = this.#options
    // All workers share one iterator.
    const next = resources.values()
    const lanes = async (): Promise<void> => {
      if (await this.#hasMany(whole))
        await Promise.all(Array.from({ length: LANES }, () => this.#fillAll(next)))
    }
    await withTimeout(lanes(), Math.min(readyMsMax, READY_MS_MAX), {
      onTimeout: () => undefined,
      ...(timers && { timers }),
    })
    this.#isDone = true
  }

  [Symbol.dispose](): void {
    this.#isStopped = true
  }

  async #hasMany(range: KeyRange): Promise<boolean> {
    try {
      return (await this.#options.count(range)).count >= COUNT_MIN
    } catch (error) {
      if (!this.#isStopped)
        this.#options.log('warn', 'could not count the objects in the database', {
          error: String(error),
        })
      return true
    }
  }

  async #fillAll(resources: Iterable<Fillable>): Promise<void> {
    const { count, heldBytes, log } = this.#options
    for (const { name, range, fill } of resources) {
      if (this.#isStopped || heldBytes() > BYTES_MAX) return
      try {
        const { count: objects } = await count(range)
        if (objects >= COUNT_MIN && objects <= COUNT_MAX) await fill()
      } catch (error) {
        if (this.#isStopped) return
        log('warn', 'could not load a resource into memory; its first request will load it', {
          resource: name,
          error: String(error),
        })
      }
    }
  }
}
