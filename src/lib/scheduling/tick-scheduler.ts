/**
 * Limits how much work starts in one tick of the event loop. Everything that starts in a tick makes
 * it longer, and a small request waits for two or three ticks. So a tick starts a limited amount of
 * work, and the rest waits in queues. Groups are served round-robin, and so are the flows of a
 * group: a client that sends hundreds of requests at once delays only itself.
 */
import { Deque } from '../collections/deque.ts'
import { type Defer, turnEnd } from '../time/turn-end.ts'

/**
 * The weight that a tick may start: 32 writes, which take 8 to 20 ms with their responses, or 256
 * reads. The first tick of a burst starts twice as many. With a smaller weight, responses and calls
 * to etcd would be sent in more and smaller pieces, which makes writes of small objects slower.
 */
const TICK_WEIGHT = 256
/**
 * The weight of a tick while several flows want to start requests. Shorter ticks keep the wait
 * short for clients that send little.
 */
const CONTENDED_TICK_WEIGHT = 64
/**
 * The number of ticks that stay short after requests of two flows were seen: about a second of a
 * busy loop. A request of a client that sends little usually arrives during a tick of another
 * client, and waits for its end.
 */
const CONTENDED_TICKS = 200
const WRITE_WEIGHT = 8
/**
 * The weight of a read for each seat. It is small, since long lists yield to the event loop in
 * slices. The first quarter of a megabyte is sent at once, so a list weighs as much as its seats.
 */
const READ_WEIGHT = 1

/** The weight of a request in the tick in which it starts. */
export const startWeight = (isWrite: boolean, seats = 1): number =>
  (isWrite ? WRITE_WEIGHT : READ_WEIGHT) * seats

export type QueuedStart = {
  readonly group?: unknown
  readonly flow: unknown
  readonly weight: number
  /**
   * Called in a later tick to start the request. Returns false if the request ended meanwhile and
   * nothing was started.
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
  /**
   * The queues by group and flow. The first group, and the first flow of a group, are served next.
   */
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

  /** Shortens the next ticks. Called when requests of several flows arrived one after the other. */
  markContended(): void {
    this.#contendedTicks = CONTENDED_TICKS
    this.#left = Math.min(this.#left, this.#contendedWeight)
  }

  /** Returns whether this tick has room for one more request, which then counts as started. */
  tryStart(weight: number): boolean {
    if (!this.#isScheduled) {
      this.#isScheduled = true
      this.#defer(this.#nextTick)
    }
    if (this.#left <= 0 || this.#groups.size > 0) return false
    this.#left -= weight
    return true
  }

  /** Queues a request. Call it only after `tryStart` returned false. */
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
      // A group with more requests moves to the end, where this loop reaches it again.
      this.#groups.delete(group)
      if (flows.size > 0) this.#groups.set(group, flows)
      if (this.#left <= 0) break
    }
    this.#isScheduled = this.#groups.size > 0
    if (this.#isScheduled) this.#defer(this.#nextTick)
  }

  /** Starts the next request of the next flow. Requests that have ended are dropped. */
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
