/**
 * The seats of one priority level, and the queues in front of them. It implements fair queuing for
 * server requests (KEP-1040): every active queue is entitled to the same share of the seats.
 *
 * `R` is the progress of a queue that always gets exactly its share, in seat-milliseconds. A queue
 * that got more than its share starts its next request at a higher R, so it waits. The queue whose
 * first request would end at the lowest R is served next. Of the queues without requests, only the
 * first few hundred are kept, however many the level has.
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
  /** Called when the last request has ended. */
  readonly onIdle?: () => void
}

export class QueueSet {
  readonly #options: QueueSetOptions
  #config: QueueSetConfig
  readonly #queues = new Map<number, Queue>()
  /** Requests outside of queues, because the level is exempt or has no queues. */
  readonly #executingAlone = new RequestLine()
  #progressR = 0
  #syncedMs: number
  /**
   * Number of the queue that was served last. Among equal queues, the next one after it is served.
   */
  #servedLast = -1
  #activeQueues = 0
  #waiting = 0
  #seatsWaiting = 0
  #executing = 0
  #seatsInUse = 0
  /**
   * Seats in use by requests of queues. Together with the seats of waiting requests, this is what
   * the queues ask for.
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

  /** Returns the queues in the order of their numbers. */
  queues(): readonly Queue[] {
    return [...this.#queues.values()].toSorted((one, other) => one.index - other.index)
  }

  executingAlone(): Requests {
    return this.#executingAlone
  }

  /**
   * Changes the configuration. Requests in queues that no longer exist stay there until they are
   * served.
   */
  configure(config: QueueSetConfig): void {
    const nowMs = this.#sync()
    this.#config = config
    this.#dispatchAll(nowMs)
  }

  /**
   * Seats the request, queues it, or refuses it. A queued request gets its seats later, when
   * `onSeated` is called, or is removed by `giveUp`. `hand` has the queues of the request; it is
   * not read if the level has none. `atMs` is the current time, if the clock was already read.
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
    // The only waiting request is the next one.
    if (this.#waiting > 1) this.#dispatchAll(nowMs)
    else if (this.#seatsInUse < seats && this.#leavesRoom(request)) this.#dispatch(queue, nowMs)
    return this.#isSeated(request) ? 'seated' : 'waiting'
  }

  /** Removes a waiting request from its queue. Returns false if the request does not wait. */
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
   * Ends a request that was served. Its seats are free now, or when its watchers are expected to
   * have been notified.
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
      // The queue was charged for the estimated duration when the request started. Charge the
      // actual duration instead.
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

  /**
   * Advances the progress as fast as equal queues could have used the seats since the last call.
   * Returns the time.
   */
  #sync(atMs: number = this.#options.time.monotonicMs()): number {
    // The caller may have read the clock a while ago, so never go backwards.
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
   * Returns the queue of the hand with the least waiting work. The search starts at a different
   * queue each time, so that equal queues take turns.
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
   * Starts a request if none is waiting and seats are free. It has the effect of `#enqueue` and
   * `#dispatch`, at the lower cost that most requests should pay.
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
   * Returns the queue whose first request would end first, of those that may start now. Unlike
   * kube-apiserver, it prefers a queue that got no more than its share, and whose flow has few
   * requests executing. A flow that floods the server has as many queues as its hand. Each of them
   * is entitled to as much as the only queue of a client that sends a request now and then.
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
   * free. In that case no other request gets these seats meanwhile.
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
    // A level with few seats holds them for longer instead, so that the work stays the same.
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
   * Whether wide requests leave room for others if this request starts. Lists last for as long as
   * their clients take to read them. They never get all seats, so that other requests wait only for
   * short ones.
   */
  #leavesRoom({ isWide, seats }: FlowRequest): boolean {
    if (!isWide || this.#wideSeatsInUse === 0) return true
    return this.#wideSeatsInUse + seats <= this.#config.seats * WIDE_SHARE
  }

  /**
   * Whether the free seats suffice. A request that is wider than the level starts when it is alone.
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
   * Raises `nextR` to when the first request arrived: no request starts before it arrived, so a
   * queue cannot save up what it did not use.
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

  /** Updates the metrics that are only needed when they are read. */
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

/** Maximum share of a level's seats for requests that take more than one. */
const WIDE_SHARE = 3 / 4

/** Share of a level's seats. A flow with fewer requests executing does not flood the server. */
const LITTLE_SHARE = 1 / 8

/**
 * Number of queues that are kept even if they are empty, which exceeds those of a level in a new
 * cluster. Otherwise each request that arrives alone would create a queue and drop it.
 */
const QUEUES_KEPT = 256

const MS_PER_SECOND = 1000

/** Returns the minimum and the maximum, converted to seat-seconds. */
const extremes = (
  values: readonly number[],
): { readonly min: number; readonly max: number } | undefined =>
  values.length === 0
    ? undefined
    : {
        min: values.reduce((a, b) => Math.min(a, b)) / MS_PER_SECOND,
        max: values.reduce((a, b) => Math.max(a, b)) / MS_PER_SECOND,
      }
