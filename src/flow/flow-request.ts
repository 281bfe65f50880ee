/** A request in flow control: where it waits, which seats it takes, since when. */
import type { RequestInfo } from '../api/context.ts'
import { Deque } from '../lib/deque.ts'
import type { FlowSeries } from './metrics.ts'
import type { Hand } from './shuffle-sharding.ts'

/** What a request is estimated to take. */
export type Work = {
  /** While it is served. */
  readonly initialSeats: number
  /** Afterwards, for `lingerMs`: the watchers of what it wrote have still to be served. */
  readonly finalSeats: number
  readonly lingerMs: number
}

export const oneSeat: Work = { initialSeats: 1, finalSeats: 0, lingerMs: 0 }

/** What is known of who sent it, for the dump page alone. */
export type Asked = { readonly user: string; readonly info: RequestInfo }

/** `lingering`: it was answered, its seats are not free yet. */
export type FlowState = 'new' | 'waiting' | 'executing' | 'lingering' | 'over'

export type FlowRequestOptions = {
  readonly series: FlowSeries
  readonly distinguisher: string
  readonly work: Work
  readonly asked: Asked
}

export class FlowRequest {
  readonly series: FlowSeries
  readonly distinguisher: string
  readonly asked: Asked
  /** Replaced if the level has fewer seats by the time it begins. */
  work: Work
  state: FlowState = 'new'
  /** On the monotonic clock. */
  arrivedMs = 0
  startedMs = 0
  endedMs = 0
  /** The progress of its level when it arrived. */
  arrivedR = 0
  queue: Queue | undefined
  /** The hand of its flow, which identifies it. */
  hand: Hand | undefined
  /** It has lasted longer than was estimated, and what it takes is charged to its queue by the time. */
  isOverdue = false
  /** Called when a request that had to wait gets its seats. */
  onSeated: (() => void) | undefined
  /** Its neighbours in the queue. */
  before: FlowRequest | undefined
  after: FlowRequest | undefined

  constructor({ series, distinguisher, work, asked }: FlowRequestOptions) {
    this.series = series
    this.distinguisher = distinguisher
    this.work = work
    this.asked = asked
  }

  /** Held from its beginning to its end, whichever of the two phases needs more. */
  get seats(): number {
    return Math.max(this.work.initialSeats, this.work.finalSeats)
  }

  /** A list of many objects, or a watch that begins with one. */
  get isWide(): boolean {
    return this.work.initialSeats > 1
  }
}

/** The requests of some flows that wait, in the order of their arrival, and what is executing of them. A list that any member can leave. */
export class Queue {
  readonly index: number
  /** The progress of the level at which the next request would begin, were every queue given its part continuously. */
  nextR = 0
  seatsInUse = 0
  readonly #executing = new Set<FlowRequest>()
  /** Those that have begun, in this order, until they are over or overdue. */
  readonly #young = new Deque<FlowRequest>()
  /** Sums over those that are overdue: their seats, and each seat times when it was taken. */
  #overdueSeats = 0
  #overdueSince = 0
  #first: FlowRequest | undefined
  #last: FlowRequest | undefined
  #length = 0
  /** Sums over those that wait. */
  initialSeatsSum = 0
  seatsSum = 0
  workSum = 0

  constructor(index: number) {
    this.index = index
  }

  get length(): number {
    return this.#length
  }

  get first(): FlowRequest | undefined {
    return this.#first
  }

  get isActive(): boolean {
    return this.#length > 0 || this.#executing.size > 0
  }

  get executing(): ReadonlySet<FlowRequest> {
    return this.#executing
  }

  begin(request: FlowRequest): void {
    this.#age(request.startedMs)
    this.#executing.add(request)
    this.#young.push(request)
  }

  end(request: FlowRequest): void {
    this.#executing.delete(request)
    if (request.isOverdue) this.#countOverdue(request, -1)
    if (this.#executing.size > 0) return
    // Nothing of the rounding of sums is kept.
    this.#young.clear()
    this.#overdueSeats = 0
    this.#overdueSince = 0
  }

  /**
   * The progress at which the next request would begin, with what those that are served now have taken beyond the estimate. Upstream charges that when they end: a queue whose requests last for seconds is
   * seconds ahead of what it is charged, and one that has a single request now and then waits for so long.
   */
  startR(nowMs: number): number {
    this.#age(nowMs)
    return this.nextR + this.#overdueSeats * (nowMs - ESTIMATED_MS) - this.#overdueSince
  }

  push(request: FlowRequest): void {
    request.before = this.#last
    if (this.#last === undefined) this.#first = request
    else this.#last.after = request
    this.#last = request
    this.#count(request, 1)
  }

  remove(request: FlowRequest): void {
    const { before, after } = request
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    request.before = undefined
    request.after = undefined
    this.#count(request, -1)
  }

  *waiting(): Generator<FlowRequest, void, void> {
    for (let at = this.#first; at !== undefined; at = at.after) yield at
  }

  #age(nowMs: number): void {
    for (let first = this.#young.at(0); first !== undefined; first = this.#young.at(0)) {
      const isOver = first.state !== 'executing'
      if (!isOver && nowMs - first.startedMs < ESTIMATED_MS) break
      this.#young.shift()
      if (isOver) continue
      first.isOverdue = true
      this.#countOverdue(first, 1)
    }
  }

  #countOverdue({ work, startedMs }: FlowRequest, sign: 1 | -1): void {
    this.#overdueSeats += sign * work.initialSeats
    this.#overdueSince += sign * work.initialSeats * startedMs
  }

  #count(request: FlowRequest, sign: 1 | -1): void {
    this.#length += sign
    this.initialSeatsSum += sign * request.work.initialSeats
    this.seatsSum += sign * request.seats
    this.workSum = this.#length === 0 ? 0 : this.workSum + sign * workOf(request)
  }
}

/** What a request is taken to last until it has ended: upstream's estimate, so that the same requests come first. */
export const ESTIMATED_MS = 3

/** In seat-milliseconds, estimated. */
export const workOf = ({ work }: FlowRequest): number =>
  work.initialSeats * ESTIMATED_MS + work.finalSeats * work.lingerMs
