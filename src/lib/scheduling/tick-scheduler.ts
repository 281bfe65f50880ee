/**
 * Limits how much work starts in one tick of the event loop. All work that starts in a tick makes
 * the tick longer, and a small request waits for two or three ticks. When the limit is reached,
 * further requests wait in queues until the next ticks. The groups of requests take turns, and so
 * do the flows within a group. Therefore, a client that sends hundreds of requests at once delays
 * only itself.
 */
import { Deque } from '../collections/deque.ts'
import { type Defer, turnEnd } from '../time/turn-end.ts'

/**
 * The total weight of the requests that a tick can start: 32 writes, which take 8 to 20 ms
 * including their responses, or 256 reads. The first tick of a burst starts twice this weight. A
 * lower limit would divide responses and calls to etcd into more and smaller pieces, which makes
 * writes of small objects slower.
 */
const TICK_WEIGHT = 256
/**
 * The total weight per tick while several flows have waiting requests. Shorter ticks keep the
 * waiting time short for clients that send few requests.
 */
const CONTENDED_TICK_WEIGHT = 64
/**
 * After requests of two flows have arrived, this number of ticks stays short: about a second on a
 * busy event loop. A request usually arrives during a tick in which requests of another client run,
 * and waits for the end of this tick. So the tick must already be short.
 */
const CONTENDED_TICKS = 200
const WRITE_WEIGHT = 8
/**
 * The weight of a read for each of its seats in flow control. It is low, because long lists are
 * divided into time slices. A list with several seats weighs more than other reads, because the
 * first 256 KB of its response are sent in the first tick.
 */
const READ_WEIGHT = 1

/** Returns how much of a tick's weight limit a request uses in the tick that starts it. */
export const startWeight = (isWrite: boolean, seats = 1): number =>
  (isWrite ? WRITE_WEIGHT : READ_WEIGHT) * seats

export type QueuedStart = {
  readonly group?: unknown
  readonly flow: unknown
  readonly weight: number
  /**
   * Called in a later tick to start the request. Returns false if the request has ended in the
   * meantime and was not started.
   */
  readonly start: () => boolean
}

export type TickSchedulerOptions = {
  readonly defer?: Defer
  /** Whether ticks are shorter while several flows wait. */
  readonly shortensContended?: boolean
}

type FlowQueues = Map<unknown, Deque<QueuedStart>>

export class TickScheduler {
  readonly #defer: Defer
  readonly #contendedWeight: number
  /** The queues by group and flow. The first group is served next, starting with its first flow. */
  readonly #groups = new Map<unknown, FlowQueues>()
  #flows = 0
  #left = TICK_WEIGHT
  #contendedTicks = 0
  #isScheduled = false

  constructor({ defer = turnEnd.defer, shortensContended = false }: TickSchedulerOptions = {}) {
    this.#defer = defer
    this.#contendedWeight = shortensContended ? CONTENDED_TICK_WEIGHT : TICK_WEIGHT
  }

  get waiting(): number {
    let count = 0
    for (const flows of this.#groups.values())
      for (const { length } of flows.values()) count += length
    return count
  }

  /** Shortens the next ticks. Called when requests of several flows arrive one after the other. */
  markContended(): void {
    this.#contendedTicks = CONTENDED_TICKS
    this.#left = Math.min(this.#left, this.#contendedWeight)
  }

  /** Returns whether this tick can start one more request. If so, the request counts as started. */
  tryStart(weight: number): boolean {
    if (!this.#isScheduled) {
      this.#isScheduled = true
      this.#defer(this.#nextTick)
    }
    if (this.#left <= 0 || this.#groups.size > 0) return false
    this.#left -= weight
    return true
  }

  /** Queues a request. Call this only if `tryStart` returned false. */
  enqueue(queued: QueuedStart): void {
    const { group, flow } = queued
    const flows: FlowQueues = this.#groups.get(group) ?? new Map()
    const queue = flows.get(flow) ?? new Deque<QueuedStart>()
    queue.push(queued)
    if (queue.length === 1) this.#flows++
    this.#groups.set(group, flows.set(flow, queue))
  }

  readonly #nextTick = (): void => {
    const isContended = this.#flows > 1 || this.#contendedTicks > 0
    if (this.#contendedTicks > 0) this.#contendedTicks--
    this.#left = isContended ? this.#contendedWeight : TICK_WEIGHT
    for (const [group, flows] of this.#groups) {
      this.#startOne(flows)
      // Moves a group that has more requests to the end of the map, so that this loop visits it
      // again.
      this.#groups.delete(group)
      if (flows.size > 0) this.#groups.set(group, flows)
      if (this.#left <= 0) break
    }
    this.#isScheduled = this.#groups.size > 0
    if (this.#isScheduled) this.#defer(this.#nextTick)
  }

  /** Starts the next request of the next flow. Drops requests that have ended. */
  #startOne(flows: FlowQueues): void {
    for (const [flow, queue] of flows) {
      let next = queue.shift()
      while (next !== undefined && !next.start()) next = queue.shift()
      flows.delete(flow)
      if (queue.length > 0) flows.set(flow, queue)
      else this.#flows--
      if (next === undefined) continue
      this.#left -= next.weight
      return
    }
  }
}
