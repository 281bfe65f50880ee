/**
 * Limits how much work starts in one tick of the event loop. Whatever starts in a tick lengthens it
 * for everybody: hundreds of writes that came together made ticks of 200 ms, and a small request
 * waits for two or three ticks. So a tick starts a limited amount of work, and the rest waits.
 * Groups are served round-robin, and so are the flows of a group: a client that sends hundreds of
 * requests at once delays only itself.
 */
import { Deque } from '../collections/deque.ts'
import { type Defer, turnEnd } from '../time/turn-end.ts'

/**
 * The weight that a tick may start: 32 writes, which take 8 to 20 ms with their responses, or 256
 * reads. The first tick of a burst starts twice as many. With fewer, responses and calls to etcd
 * are sent in more and smaller pieces: 8 writes per tick made writes of small objects slower by a
 * fifth.
 */
const TICK_WEIGHT = 256
/**
 * While several flows want to start. A shorter tick means a shorter wait for clients that send
 * little.
 */
const CONTENDED_TICK_WEIGHT = 64
/**
 * The number of shorter ticks after requests of two flows: the request of a client that sends
 * little arrives during the tick of another client, and waits for its end. About a second of a busy
 * loop.
 */
const CONTENDED_TICKS = 200
const WRITE_WEIGHT = 8
/**
 * Reads weigh little, since long lists yield the event loop in slices. The first quarter of a
 * megabyte is sent at once, so a list weighs as much as its seats.
 */
const READ_WEIGHT = 1

/** The weight of a request in the tick in which it starts. */
export const startWeight = (isWrite: boolean, seats = 1): number =>
  (isWrite ? WRITE_WEIGHT : READ_WEIGHT) * seats

export type QueuedStart = {
  readonly group?: unknown
  readonly flow: unknown
  readonly weight: number
  /** Called in a later tick. False: the request ended meanwhile, and nothing was started. */
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
  /** The first group, and the first flow of a group, are served next. */
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

  /** Requests of several flows came one after the other. */
  markContended(): void {
    this.#contendedTicks = CONTENDED_TICKS
    this.#left = Math.min(this.#left, this.#contendedWeight)
  }

  /** Whether this tick has room for one more request, which then counts as started. */
  tryStart(weight: number): boolean {
    if (!this.#isScheduled) {
      this.#isScheduled = true
      this.#defer(this.#nextTick)
    }
    if (this.#left <= 0 || this.#groups.size > 0) return false
    this.#left -= weight
    return true
  }

  /** To be called only after `tryStart` returned false. */
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
      // A group with more requests is moved to the end, where this loop comes to it again.
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
