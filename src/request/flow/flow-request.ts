/** A request in flow control: where it waits, which seats it takes, since when. */
import type { RequestInfo } from '../../api/context.ts'
import type { User } from '../../api/user.ts'
import type { FlowSeries } from './flow-schema-metrics.ts'
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
export type RequestOrigin = { readonly user: Pick<User, 'name'>; readonly info: RequestInfo }

/** `lingering`: it was answered, its seats are not free yet. */
export type FlowState = 'new' | 'waiting' | 'executing' | 'lingering' | 'over'

export type FlowRequestOptions = {
  readonly series: FlowSeries
  readonly distinguisher: string
  readonly work: Work
  readonly asked: RequestOrigin
}

export class FlowRequest {
  readonly series: FlowSeries
  readonly distinguisher: string
  readonly asked: RequestOrigin
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
  /**
   * It has lasted longer than was estimated, and what it takes is charged to its queue by the time.
   */
  isOverdue = false
  /** Called when a request that had to wait gets its seats. */
  onSeated: (() => void) | undefined
  /**
   * Its neighbours among those that wait in the queue; from its beginning on, among those that are
   * served.
   */
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

/**
 * Requests in the order in which they came to it. A list that any member can leave, which costs no
 * memory: a request is in one of them at a time.
 */
export class RequestLine {
  first: FlowRequest | undefined
  last: FlowRequest | undefined
  length = 0

  push(request: FlowRequest): void {
    const { last } = this
    request.before = last
    if (last === undefined) this.first = request
    else last.after = request
    this.last = request
    this.length++
  }

  remove(request: FlowRequest): void {
    const { before, after } = request
    if (before === undefined) this.first = after
    else before.after = after
    if (after === undefined) this.last = before
    else after.before = before
    request.before = undefined
    request.after = undefined
    this.length--
  }

  *[Symbol.iterator](): Generator<FlowRequest, void, void> {
    for (let at = this.first; at !== undefined; at = at.after) yield at
  }
}

/** A line for who only looks at it. */
export type Requests = Iterable<FlowRequest> & { readonly length: number }

/**
 * The requests of some flows that wait, in the order of their arrival, and what is executing of
 * them.
 */
export class Queue {
  readonly index: number
  /**
   * The progress of the level at which the next request would begin, were every queue given its
   * part continuously.
   */
  nextR = 0
  seatsInUse = 0
  readonly #waiting = new RequestLine()
  /** In the order of their beginnings: those that are overdue come first. */
  readonly #executing = new RequestLine()
  /** The first that is not overdue. */
  #young: FlowRequest | undefined
  /** Sums over those that are overdue: their seats, and each seat times when it was taken. */
  #overdueSeats = 0
  #overdueSince = 0
  /** Sums over those that wait. */
  initialSeatsSum = 0
  seatsSum = 0
  workSum = 0

  constructor(index: number) {
    this.index = index
  }

  get length(): number {
    return this.#waiting.length
  }

  get first(): FlowRequest | undefined {
    return this.#waiting.first
  }

  get isActive(): boolean {
    return this.#waiting.length > 0 || this.#executing.length > 0
  }

  get executing(): Requests {
    return this.#executing
  }

  get waiting(): Requests {
    return this.#waiting
  }

  begin(request: FlowRequest): void {
    this.#age(request.startedMs)
    this.#executing.push(request)
    this.#young ??= request
  }

  end(request: FlowRequest): void {
    if (request === this.#young) this.#young = request.after
    this.#executing.remove(request)
    if (request.isOverdue) this.#countOverdue(request, -1)
    if (this.#executing.length > 0) return
    // Nothing of the rounding of sums is kept.
    this.#overdueSeats = 0
    this.#overdueSince = 0
  }

  /**
   * The progress at which the next request would begin, with what those that are served now have
   * taken beyond the estimate. Upstream charges that when they end: a queue whose requests last for
   * seconds is seconds ahead of what it is charged, and one that has a single request now and then
   * waits for so long.
   */
  startR(nowMs: number): number {
    this.#age(nowMs)
    return this.nextR + this.#overdueSeats * (nowMs - ESTIMATED_MS) - this.#overdueSince
  }

  push(request: FlowRequest): void {
    this.#waiting.push(request)
    this.#count(request, 1)
  }

  remove(request: FlowRequest): void {
    this.#waiting.remove(request)
    this.#count(request, -1)
  }

  #age(nowMs: number): void {
    let young = this.#young
    while (young !== undefined && nowMs - young.startedMs >= ESTIMATED_MS) {
      young.isOverdue = true
      this.#countOverdue(young, 1)
      young = young.after
    }
    this.#young = young
  }

  #countOverdue({ work, startedMs }: FlowRequest, sign: 1 | -1): void {
    this.#overdueSeats += sign * work.initialSeats
    this.#overdueSince += sign * work.initialSeats * startedMs
  }

  #count(request: FlowRequest, sign: 1 | -1): void {
    this.initialSeatsSum += sign * request.work.initialSeats
    this.seatsSum += sign * request.seats
    this.workSum = this.length === 0 ? 0 : this.workSum + sign * workOf(request)
  }
}

/**
 * What a request is taken to last until it has ended: upstream's estimate, so that the same
 * requests come first.
 */
export const ESTIMATED_MS = 3

/** In seat-milliseconds, estimated. */
export const workOf = ({ work }: FlowRequest): number =>
  work.initialSeats * ESTIMATED_MS + work.finalSeats * work.lingerMs
