/**
 * When the server starts, it reads the objects of most resources into memory before it reports
 * ready, as kube-apiserver does: all clients list everything then, and those that waited for
 * readiness find the objects printed. Requests are answered meanwhile, and load the resources they
 * need. A resource that nobody reads is dropped after five minutes, as always.
 */
import type { Log } from '../../lib/telemetry/log.ts'
import { type Timers, withTimeout } from '../../lib/time/timers.ts'
import type { KeyRange } from '../keys.ts'

/** Resources that are read at the same time: some wait for etcd while another is printed. */
const LANES = 4
/**
 * With more than this in memory no further resource is begun: a server must not need more memory to
 * start than to serve.
 */
const BYTES_MAX = 256 << 20
/**
 * A resource with fewer objects is listed in some milliseconds when it is first requested; to fill
 * these too, the schemas of all kinds would have to be read, which would make the start of an empty
 * cluster slower by a seventh.
 */
const COUNT_MIN = 100
/**
 * A resource with more objects would exceed BYTES_MAX alone, at 1 KB each, and take longer than
 * READY_MS_MAX. Its first reader fills it.
 */
const COUNT_MAX = 250_000
/**
 * After this time the server reports ready, even if not everything is in memory: the rest goes on,
 * and requests wait for what they need only.
 */
const READY_MS_MAX = 3_000

/** A resource that may have objects. */
export type Fillable = {
  readonly name: string
  readonly range: KeyRange
  readonly fill: () => Promise<void>
}

export type FirstFillOptions = {
  readonly count: (range: KeyRange) => Promise<{ readonly count: number }>
  /** Memory that the cached objects take now. */
  readonly heldBytes: () => number
  /** Absent: three seconds, which it cannot exceed either. */
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

  /** Whether readiness no longer depends on it. */
  get isDone(): boolean {
    return this.#isDone
  }

  /**
   * Never fails: what could not be read is read when it is first requested. `whole`: the range of
   * all resources, so that one count is enough for a new cluster.
   */
  async run(resources: readonly Fillable[], whole: KeyRange): Promise<void> {
    const { timers, readyMsMax = READY_MS_MAX } = this.#options
    // All lanes share one iterator.
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
        this.#options.log('warn', 'the objects could not be counted', { error: String(error) })
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
        log('warn', 'a resource could not be brought into memory yet', {
          resource: name,
          error: String(error),
        })
      }
    }
  }
}
