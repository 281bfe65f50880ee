/** A request in flow control: where it waits, which seats it takes, and since when. */
import type { RequestInfo } from '../../api/context.ts'
import type { User } from '../../api/user.ts'
import type { FlowSeries } from './flow-schema-metrics.ts'
import type { Hand } from './shuffle-sharding.ts'

/** Estimated cost of a request. */
export type Work = {
  /** Seats while the request is served. */
  readonly initialSeats: number
  /**
   * Seats after the response, for `lingerMs`, while the watchers of the written object are
   * notified.
   */
  readonly finalSeats: number
  readonly lingerMs: number
}

export const oneSeat: Work = { initialSeats: 1, finalSeats: 0, lingerMs: 0 }

/** Sender and target of a request. Only the dump page uses them. */
export type RequestOrigin = { readonly user: Pick<User, 'name'>; readonly info: RequestInfo }

/** State of a request. `lingering`: the response was sent, but the seats are not free yet. */
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
  /** Replaced if the level has fewer seats by the time the request starts. */
  work: Work
  state: FlowState = 'new'
  /** Times on the monotonic clock. */
  arrivedMs = 0
  startedMs = 0
  endedMs = 0
  /** Progress of the level when the request arrived. */
  arrivedR = 0
  queue: Queue | undefined
  /** Hand of the request's flow. It identifies the flow. */
  hand: Hand | undefined
  /**
   * Whether the request has lasted longer than estimated. Its seats are then charged to its queue
   * as time passes.
   */
  isOverdue = false
  /** Called when a request that had to wait gets its seats. */
  onSeated: (() => void) | undefined
  /**
   * Neighbors of the request among those that wait in the queue or, after it has started, among
   * those that are executing.
   */
  before: FlowRequest | undefined
  after: FlowRequest | undefined

  constructor({ series, distinguisher, work, asked }: FlowRequestOptions) {
    this.series = series
    this.distinguisher = distinguisher
    this.work = work
    this.asked = asked
  }

  /** Seats held from start to end: those of the phase that needs more. */
  get seats(): number {
    return Math.max(this.work.initialSeats, this.work.finalSeats)
  }

  /**
   * Whether the request takes several seats: a list of many objects, or a watch that begins with
   * one.
   */
  get isWide(): boolean {
    return this.work.initialSeats > 1
  }
}

/**
 * Requests in the order of their arrival. It is a linked list that any member can leave. It
 * allocates nothing, because a request is in only one list at a time.
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

/** Read-only view of a `RequestLine`. */
export type Requests = Iterable<FlowRequest> & { readonly length: number }

/**
 * The waiting requests of some flows, in the order of their arrival, and the executing requests of
 * these flows.
 */
export class Queue {
  readonly index: number
  /**
   * Progress of the level at which the next request would start if every queue continuously got its
   * share.
   */
  nextR = 0
  seatsInUse = 0
  readonly #waiting = new RequestLine()
  /** Executing requests in the order in which they started. The overdue ones come first. */
  readonly #executing = new RequestLine()
  /** The first request that is not overdue. */
  #young: FlowRequest | undefined
  /** Sums over the overdue requests: their seats, and their seats times their start times. */
  #overdueSeats = 0
  #overdueSince = 0
  /** Sums over the waiting requests. */
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
    // Reset the sums, so that rounding errors do not accumulate.
    this.#overdueSeats = 0
    this.#overdueSince = 0
  }

  /**
   * Returns the progress at which the next request would start. It includes what executing requests
   * have taken beyond their estimate.
   *
   * kube-apiserver charges that only when they end. A queue whose requests last for seconds is then
   * seconds ahead of its charge. A queue with a single request now and then has to wait that long.
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
 * Assumed duration of a request. It is kube-apiserver's estimate, so that both servers prefer the
 * same requests.
 */
export const ESTIMATED_MS = 3

/** Returns the estimated work in seat-milliseconds. */
export const workOf = ({ work }: FlowRequest): number =>
  work.initialSeats * ESTIMATED_MS + work.finalSeats * work.lingerMs
