/** A request in API Priority and Fairness: its queue, its seats, and its times. */
import type { RequestInfo } from '../../api/context.ts'
import type { User } from '../../api/user.ts'
import type { FlowSeries } from './flow-schema-metrics.ts'
import type { Hand } from './shuffle-sharding.ts'

/** Estimated cost of a request. */
export type Work = {
  /** Number of seats that the request holds while it is executed. */
  readonly initialSeats: number
  /**
   * Number of seats that the request holds for `lingerMs` after the response, while watches of the
   * written object are notified.
   */
  readonly finalSeats: number
  readonly lingerMs: number
}

export const oneSeat: Work = { initialSeats: 1, finalSeats: 0, lingerMs: 0 }

/** Sender and target of a request. Only the dump page uses them. */
export type RequestOrigin = { readonly user: Pick<User, 'name'>; readonly info: RequestInfo }

/**
 * State of a request. `lingering` means that the response has been sent, but the seats are not free
 * yet.
 */
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
  /**
   * Estimated cost of the request. The estimate is replaced if the priority level has fewer seats
   * when the request starts than when it arrived.
   */
  work: Work
  state: FlowState = 'new'
  /** Arrival of the request. This and the following times are on the monotonic clock. */
  arrivedMs = 0
  startedMs = 0
  endedMs = 0
  /** Progress of the priority level (see queue-set.ts) when the request arrived. */
  arrivedR = 0
  queue: Queue | undefined
  /**
   * The hand of the request's flow: the set of queues that the flow can use. The object also
   * identifies the flow.
   */
  hand: Hand | undefined
  /**
   * Whether the request has taken longer than estimated. Its queue is then charged for the
   * additional time.
   */
  isOverdue = false
  /** Called when a request that had to wait gets its seats. */
  onSeated: (() => void) | undefined
  /**
   * Neighbors of the request in a linked list. This is the list of waiting requests in its queue
   * or, after the request has started, the list of executing requests.
   */
  before: FlowRequest | undefined
  after: FlowRequest | undefined

  constructor({ series, distinguisher, work, asked }: FlowRequestOptions) {
    this.series = series
    this.distinguisher = distinguisher
    this.work = work
    this.asked = asked
  }

  /**
   * Number of seats that the request holds for its whole duration: the larger of `initialSeats` and
   * `finalSeats`.
   */
  get seats(): number {
    return Math.max(this.work.initialSeats, this.work.finalSeats)
  }

  /**
   * Whether the request takes several seats: a list of many objects, or a watch that begins with
   * such a list.
   */
  get isWide(): boolean {
    return this.work.initialSeats > 1
  }
}

/**
 * Requests in the order of their arrival. The requests form a linked list, from which any request
 * can be removed. The list allocates no memory, because a request is in only one list at a time.
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
 * The waiting requests of the flows that share this queue, in the order of their arrival, and the
 * executing requests of these flows.
 */
export class Queue {
  readonly index: number
  /**
   * Progress of the priority level at which the next request of this queue would start if each
   * queue had always got exactly its share.
   */
  nextR = 0
  seatsInUse = 0
  readonly #waiting = new RequestLine()
  /**
   * Executing requests in the order in which they started. Those that have taken longer than
   * estimated come first.
   */
  readonly #executing = new RequestLine()
  /** The first request in `#executing` that is not overdue. */
  #young: FlowRequest | undefined
  /**
   * Sums over the overdue requests: of their seats, and of their seats multiplied by their start
   * times.
   */
  #overdueSeats = 0
  #overdueSince = 0
  /**
   * Sums over all waiting requests: of the seats that they need at first, of their maximum numbers
   * of seats, and of their estimated work.
   */
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
    // No request is executing, so reset the sums. Otherwise, rounding errors would accumulate.
    this.#overdueSeats = 0
    this.#overdueSince = 0
  }

  /**
   * Returns the progress at which the next request would start. The result includes the time by
   * which executing requests have exceeded their estimate.
   *
   * kube-apiserver charges the queue for this time only when the requests end. Until then, a queue
   * whose requests take several seconds gets more than its share, and a queue with occasional
   * requests has to wait.
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
 * Assumed duration of a request. kube-apiserver uses the same estimate, so both servers schedule
 * requests in the same order.
 */
export const ESTIMATED_MS = 3

/** Returns the estimated work in seat-milliseconds. */
export const workOf = ({ work }: FlowRequest): number =>
  work.initialSeats * ESTIMATED_MS + work.finalSeats * work.lingerMs
