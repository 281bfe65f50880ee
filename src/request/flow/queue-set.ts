/**
 * The seats of one priority level and its queues. It implements fair queuing for server requests
 * (KEP-1040): all active queues are entitled to the same share of the seats.
 *
 * `R` is the progress, in seat-milliseconds, of a queue that always gets exactly its share. For a
 * queue that got more than its share, the next request starts at a higher R, so it has to wait. The
 * next request is taken from the queue whose first request would end at the lowest R. Empty queues
 * are removed, except for a few hundred, because a priority level can have a large number of
 * queues.
 */
import type { Time } from '../../lib/time/timers.ts'
import {
  ESTIMATED_MS,
  type FlowRequest,
  Queue,
  RequestLine,
  type Requests,
  workOf,
} from './flow-request.ts'
import type { RefusalReason } from './flow-schema-metrics.ts'
import type { LevelSeries } from './priority-level-metrics.ts'
import type { Queuing } from './priority-level.ts'
import type { SeatDemand } from './seat-demand.ts'
import type { Hand } from './shuffle-sharding.ts'

export type QueueSetConfig = {
  readonly isExempt: boolean
  readonly queuing: Queuing | undefined
  readonly seats: number
}

export type QueueSetOptions = {
  readonly time: Pick<Time, 'monotonicMs' | 'after'>
  readonly series: LevelSeries
  readonly demand: SeatDemand
  /** Called when the last request of the priority level has ended. */
  readonly onIdle?: () => void
}

export class QueueSet {
  readonly #options: QueueSetOptions
  #config: QueueSetConfig
  readonly #queues = new Map<number, Queue>()
  /**
   * Executing requests that were not in a queue, because the priority level is exempt or has no
   * queues.
   */
  readonly #executingAlone = new RequestLine()
  #progressR = 0
  #syncedMs: number
  /**
   * Index of the queue from which the last request was started. If several queues are equally
   * suitable for the next request, the first one after this index is used.
   */
  #servedLast = -1
  #activeQueues = 0
  #waiting = 0
  #seatsWaiting = 0
  #executing = 0
  #seatsInUse = 0
  /**
   * Number of seats in use by requests that were taken from a queue. The demand of the queues is
   * this number plus the seats of waiting requests.
   */
  #queuedSeatsInUse = 0
  /** The part of `#queuedSeatsInUse` that requests with more than one seat hold. */
  #wideSeatsInUse = 0
  #enqueued = 0
  readonly totals = { dispatched: 0, refused: 0, timedOut: 0, cancelled: 0 }

  constructor(config: QueueSetConfig, options: QueueSetOptions) {
    this.#config = config
    this.#options = options
    this.#syncedMs = options.time.monotonicMs()
  }

  get isIdle(): boolean {
    return this.#waiting === 0 && this.#executing === 0
  }

  get waiting(): number {
    return this.#waiting
  }

  get executing(): number {
    return this.#executing
  }

  get seatsInUse(): number {
    return this.#seatsInUse
  }

  /** Returns the queues, sorted by their index. */
  queues(): readonly Queue[] {
    return [...this.#queues.values()].toSorted((one, other) => one.index - other.index)
  }

  executingAlone(): Requests {
    return this.#executingAlone
  }

  /**
   * Changes the configuration. Requests in a queue that no longer exists stay in it until they
   * start.
   */
  configure(config: QueueSetConfig): void {
    const nowMs = this.#sync()
    this.#config = config
    this.#dispatchAll(nowMs)
  }

  /**
   * Gives seats to the request, or queues it, or rejects it. A queued request gets its seats when
   * `onSeated` is called, or is removed by `giveUp`. `hand` contains the queues of the request's
   * flow. It is not used if the priority level has no queues. `atMs` is the current time, if the
   * caller has already read the clock.
   */
  enter(request: FlowRequest, hand: Hand, atMs?: number): 'seated' | 'waiting' | RefusalReason {
    const nowMs = this.#sync(atMs)
    request.arrivedMs = nowMs
    request.arrivedR = this.#progressR
    const { isExempt, queuing, seats } = this.#config
    if (isExempt || queuing === undefined) {
      if (!isExempt && !this.#fits(request.seats)) return this.#refuse(request, 'concurrency-limit')
      this.#seat(request, nowMs)
      return 'seated'
    }
    request.hand = hand
    const queue = this.#choose(hand)
    if (
      this.#waiting === 0 &&
      this.#seatsInUse + request.seats <= seats &&
      this.#leavesRoom(request)
    ) {
      this.#beginAtOnce(request, queue)
      return 'seated'
    }
    if (this.#seatsInUse >= seats && queue.length >= queuing.lengthMax) {
      this.#dropIfEmpty(queue)
      return this.#refuse(request, 'queue-full')
    }
    this.#enqueue(request, queue)
    // If only one request is waiting, it is the request that was just added, and no search for the
    // next request is needed.
    if (this.#waiting > 1) this.#dispatchAll(nowMs)
    else if (this.#seatsInUse < seats && this.#leavesRoom(request)) this.#dispatch(queue, nowMs)
    return this.#isSeated(request) ? 'seated' : 'waiting'
  }

  /** Removes a waiting request from its queue. Returns false if the request is not waiting. */
  giveUp(request: FlowRequest, why: 'timedOut' | 'cancelled'): boolean {
    const { queue } = request
    if (request.state !== 'waiting' || queue === undefined) return false
    this.#sync()
    this.#leaveQueue(request, queue)
    request.state = 'over'
    this.totals[why]++
    this.#refuse(request, 'time-out')
    this.#recordDemand()
    this.#bound(queue)
    this.#dropIfEmpty(queue)
    if (this.isIdle) this.#options.onIdle?.()
    return true
  }

  /**
   * Ends a request that was executed. Its seats are released now, or after the estimated time for
   * notifying watches.
   */
  finish(request: FlowRequest, atMs?: number): void {
    if (request.state !== 'executing') return
    const nowMs = this.#sync(atMs)
    request.endedMs = nowMs
    this.#executing--
    const { series, queue, work } = request
    series.executingRequests.value--
    this.#options.series.executing.set(this.#executing, nowMs)
    if (queue === undefined) this.#executingAlone.remove(request)
    else {
      queue.end(request)
      if (request.hand !== undefined) request.hand.served--
      if (!queue.isActive) this.#activeQueues--
      // When the request started, the queue was charged for its estimated duration. Correct this to
      // the actual duration.
      queue.nextR -= work.initialSeats * (ESTIMATED_MS - (nowMs - request.startedMs))
      this.#bound(queue)
    }
    if (work.lingerMs > 0) {
      request.state = 'lingering'
      this.#options.time.after(work.lingerMs, () => {
        const laterMs = this.#sync()
        this.#free(request, laterMs)
        this.#dispatchAll(laterMs)
      })
    } else this.#free(request, nowMs)
    this.#dispatchAll(nowMs)
    if (this.isIdle) this.#options.onIdle?.()
  }

  #isSeated({ state }: FlowRequest): boolean {
    return state === 'executing'
  }

  /** Advances the progress for the time since the last call. Returns the current time. */
  #sync(atMs: number = this.#options.time.monotonicMs()): number {
    // The caller might have read the clock earlier than the previous caller. Ensure that the time
    // never decreases.
    const nowMs = Math.max(atMs, this.#syncedMs)
    if (this.#activeQueues > 0) {
      const asked = this.#queuedSeatsInUse + this.#seatsWaiting
      this.#progressR +=
        (Math.min(asked, this.#config.seats) / this.#activeQueues) * (nowMs - this.#syncedMs)
    }
    this.#syncedMs = nowMs
    return nowMs
  }

  /**
   * Returns the queue with the least waiting work among the queues of a flow (its hand). The search
   * starts at a different queue each time, so that queues with equal work are used in turn.
   */
  #choose(hand: Hand): Queue {
    const { queues } = hand
    const offset = this.#enqueued++ % queues.length
    let best = queues[offset] ?? 0
    let least = this.#queues.get(best)?.workSum ?? 0
    for (let at = 1; at < queues.length && least > 0; at++) {
      const index = queues[(offset + at) % queues.length] ?? 0
      const work = this.#queues.get(index)?.workSum ?? 0
      if (work < least) {
        best = index
        least = work
      }
    }
    const known = this.#queues.get(best)
    if (known !== undefined) return known
    const queue = new Queue(best)
    this.#queues.set(best, queue)
    return queue
  }

  #enqueue(request: FlowRequest, queue: Queue): void {
    if (!queue.isActive) {
      queue.nextR = this.#progressR
      this.#activeQueues++
    }
    request.queue = queue
    request.state = 'waiting'
    queue.push(request)
    this.#waiting++
    this.#seatsWaiting += request.seats
    const { series } = request
    series.waitingRequests.value++
    series.waitingSeats.value += request.seats
    series.queueLength().observe(queue.length)
    this.#options.series.waiting.set(this.#waiting, request.arrivedMs)
    this.#recordDemand()
    this.#bound(queue)
  }

  /**
   * Starts a request if no request is waiting and seats are free. Most requests start this way. The
   * effect is the same as that of `#enqueue` and `#dispatch`, but this function is faster.
   */
  #beginAtOnce(request: FlowRequest, queue: Queue): void {
    if (!queue.isActive || queue.nextR < request.arrivedR) queue.nextR = request.arrivedR
    request.queue = queue
    request.series.queueLength().observe(1)
    this.#recordDispatch(queue)
    this.#servedLast = queue.index
    queue.nextR += workOf(request)
    this.#seat(request, request.arrivedMs)
  }

  #leaveQueue(request: FlowRequest, queue: Queue): void {
    queue.remove(request)
    if (!queue.isActive) this.#activeQueues--
    this.#waiting--
    this.#seatsWaiting -= request.seats
    const { series } = request
    series.waitingRequests.value--
    series.waitingSeats.value -= request.seats
    this.#options.series.waiting.set(this.#waiting, this.#syncedMs)
  }

  #dispatchAll(nowMs: number): void {
    while (this.#waiting > 0 && this.#seatsInUse < this.#config.seats) {
      const queue = this.#next(nowMs)
      if (queue === undefined || !this.#dispatch(queue, nowMs)) return
    }
  }

  /**
   * Returns the queue whose first request would end first, among those whose first request can
   * start now.
   *
   * Unlike kube-apiserver, this function prefers queues that got no more than their share and whose
   * flow has few executing requests. A flow that floods the server fills all queues that it can
   * use. Each of these queues is entitled to as much as the only queue of a client that sends
   * occasional requests.
   */
  #next(nowMs: number): Queue | undefined {
    const { queuing } = this.#config
    const queues = Math.max(queuing?.queues ?? 1, 1)
    let best: Queue | undefined
    let bestIsNew = false
    let bestEndR = Infinity
    let bestDistance = Infinity
    for (const queue of this.#queues.values()) {
      const { first, executing } = queue
      if (first === undefined || !this.#leavesRoom(first)) continue
      const startR = queue.startR(nowMs)
      const isNew =
        executing.length === 0 && startR <= this.#progressR && this.#asksForLittle(first)
      if (bestIsNew && !isNew) continue
      const endR = startR + workOf(first)
      const distance = (queue.index - this.#servedLast - 1 + queues) % queues
      const isBetter =
        isNew !== bestIsNew || endR < bestEndR || (endR === bestEndR && distance < bestDistance)
      if (!isBetter) continue
      best = queue
      bestIsNew = isNew
      bestEndR = endR
      bestDistance = distance
    }
    return best
  }

  #asksForLittle({ hand }: FlowRequest): boolean {
    const served = hand?.served ?? 0
    return served === 0 || served < this.#config.seats * LITTLE_SHARE
  }

  /**
   * Starts the first request of the queue. Returns false if the request needs more seats than are
   * free. In this case, no other request can take the free seats.
   */
  #dispatch(queue: Queue, nowMs: number): boolean {
    const request = queue.first
    if (request === undefined) return false
    if (!this.#fits(request.seats)) {
      request.series.notAccommodated.add()
      return false
    }
    const { seats } = this.#config
    this.#recordDispatch(queue)
    this.#leaveQueue(request, queue)
    const { initialSeats, finalSeats, lingerMs } = request.work
    // If the priority level has too few seats for the request, the request holds fewer seats for a
    // longer time. The total work stays the same.
    if (finalSeats > seats)
      request.work = {
        initialSeats,
        finalSeats: seats,
        lingerMs: (finalSeats * lingerMs) / Math.max(seats, 1),
      }
    this.#servedLast = queue.index
    queue.nextR += workOf(request)
    this.#seat(request, nowMs)
    this.#bound(queue)
    return true
  }

  #seat(request: FlowRequest, nowMs: number): void {
    const { queue, series, seats } = request
    const hasWaited = request.state === 'waiting'
    request.state = 'executing'
    request.startedMs = nowMs
    this.#executing++
    this.#seatsInUse += seats
    if (queue === undefined) this.#executingAlone.push(request)
    else {
      if (!queue.isActive) this.#activeQueues++
      queue.begin(request)
      if (request.hand !== undefined) request.hand.served++
      queue.seatsInUse += seats
      if (request.isWide) this.#wideSeatsInUse += seats
      this.#queuedSeatsInUse += seats
    }
    series.executingRequests.value++
    series.executingSeats.value += seats
    this.totals.dispatched++
    this.#options.series.executing.set(this.#executing, nowMs)
    this.#options.series.seats.set(this.#seatsInUse, nowMs)
    this.#recordDemand()
    if (hasWaited) request.onSeated?.()
  }

  #free(request: FlowRequest, nowMs: number): void {
    const { queue, series, seats } = request
    request.state = 'over'
    this.#seatsInUse -= seats
    series.executingSeats.value -= seats
    this.#options.series.seats.set(this.#seatsInUse, nowMs)
    this.#recordDemand()
    if (queue === undefined) return
    queue.seatsInUse -= seats
    if (request.isWide) this.#wideSeatsInUse -= seats
    this.#queuedSeatsInUse -= seats
    this.#dropIfEmpty(queue)
  }

  /**
   * Whether enough seats remain for short requests if this request starts. A request that needs
   * several seats can be a list, which takes as long as its client needs to read it. Therefore,
   * such requests together get only a part of the seats.
   */
  #leavesRoom({ isWide, seats }: FlowRequest): boolean {
    if (!isWide || this.#wideSeatsInUse === 0) return true
    return this.#wideSeatsInUse + seats <= this.#config.seats * WIDE_SHARE
  }

  /**
   * Whether enough seats are free. A request that needs more seats than the priority level has
   * starts when no other request is executing.
   */
  #fits(seats: number): boolean {
    if (this.#config.isExempt) return true
    if (seats > this.#config.seats) return this.#executing === 0
    return this.#seatsInUse + seats <= this.#config.seats
  }

  #refuse(request: FlowRequest, reason: RefusalReason): RefusalReason {
    request.state = 'over'
    this.totals.refused++
    request.series.refused(reason).add()
    return reason
  }

  /**
   * Raises `nextR` to the progress at which the first request arrived. A queue cannot use its share
   * from before its first request arrived.
   */
  #bound(queue: Queue): void {
    const { first } = queue
    if (first !== undefined && queue.nextR < first.arrivedR) queue.nextR = first.arrivedR
  }

  #dropIfEmpty(queue: Queue): void {
    if (this.#queues.size > QUEUES_KEPT && !queue.isActive && queue.seatsInUse === 0)
      this.#queues.delete(queue.index)
  }

  #recordDemand(): void {
    const seats = this.#seatsInUse + this.#seatsWaiting
    this.#options.demand.set(seats, this.#syncedMs)
    this.#options.series.demand.set(seats, this.#syncedMs)
  }

  #recordDispatch({ nextR }: Queue): void {
    const { series } = this.#options
    series.dispatchR.value = this.#progressR / MS_PER_SECOND
    series.latestS.value = nextR / MS_PER_SECOND
  }

  /** Updates the metrics whose values are computed only when the metrics are read. */
  recordProgress(): void {
    this.#sync()
    const { series } = this.#options
    series.currentR.value = this.#progressR / MS_PER_SECOND
    const waiting = [...this.#queues.values()].filter(({ length }) => length > 0)
    const starts = waiting.map(({ nextR }) => nextR)
    const discounted = waiting.map(({ nextR, seatsInUse }) => nextR - seatsInUse * ESTIMATED_MS)
    series.nextS(extremes(starts), extremes(discounted))
    const nowMs = this.#syncedMs
    series.waiting.set(this.#waiting, nowMs)
    series.executing.set(this.#executing, nowMs)
    series.seats.set(this.#seatsInUse, nowMs)
    this.#recordDemand()
  }
}

/**
 * Maximum share of a priority level's seats that all requests with more than one seat can take
 * together.
 */
const WIDE_SHARE = 3 / 4

/**
 * Share of a priority level's seats. If a flow has fewer executing requests than this share, it is
 * not considered to flood the server.
 */
const LITTLE_SHARE = 1 / 8

/**
 * Number of queues that are retained even if they are empty. The number exceeds the number of
 * queues of any priority level in a new cluster. If no queues were retained, each request that
 * arrives alone would create and remove a queue.
 */
const QUEUES_KEPT = 256

const MS_PER_SECOND = 1000

/** Returns the smallest and the largest value, converted from seat-milliseconds to seat-seconds. */
const extremes = (
  values: readonly number[],
): { readonly min: number; readonly max: number } | undefined =>
  values.length === 0
    ? undefined
    : {
        min: values.reduce((a, b) => Math.min(a, b)) / MS_PER_SECOND,
        max: values.reduce((a, b) => Math.max(a, b)) / MS_PER_SECOND,
      }
