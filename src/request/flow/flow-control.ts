/**
 * API Priority and Fairness: determines which requests are executed, queued, or rejected.
 *
 * Flow schemas classify a request. The request acquires seats of its priority level, or waits for
 * seats in one of the queues of its flow. As soon as it has its seats, it starts in the next tick
 * of the event loop that has capacity.
 */
import type { RequestInfo } from '../../api/context.ts'
import { overloaded } from '../../api/errors.ts'
import type { Headers } from '../../api/request.ts'
import type { User } from '../../api/user.ts'
import { readPathVerbs, readVerbs } from '../../api/verbs.ts'
import { boundedKey } from '../../lib/text/bounded-texts.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { ownText } from '../../lib/text/own-text.ts'
import { startWeight, TickScheduler } from '../../lib/scheduling/tick-scheduler.ts'
import type { Timer, Time } from '../../lib/time/timers.ts'
import { Classifier } from './classifier.ts'
import { FlowRequest, type FlowRequestOptions, oneSeat, type Work } from './flow-request.ts'
import { distinguisherOf, type FlowSchema, mandatorySchemas } from './flow-schema.ts'
import { HeldRefusals } from './held-refusals.ts'
import type { Level } from './level.ts'
import { Levels } from './levels.ts'
import type { FlowSeries } from './flow-schema-metrics.ts'
import type { FlowMetrics, KindSeries } from './metrics.ts'
import type { LevelSpec } from './priority-level.ts'
import { Hand, handOf, hashOfFlow } from './shuffle-sharding.ts'
import { WatchCounts } from './watch-counts.ts'
import { type CountObjects, estimateWork, LONG_BODY_BYTES } from './work-estimate.ts'

/**
 * Interval at which the seats are divided among the priority levels again, as in kube-apiserver.
 */
const DIVIDE_MS = 10_000
/** Maximum time that a request waits for seats, as a share of its timeout. */
const WAIT_SHARE = 1 / 4
/** Maximum time that a request waits for seats. */
const WAIT_MS_MAX = 60_000
/**
 * Maximum number of cached hands per flow schema. A hand is the set of queues that a flow can use.
 * Without a cache, computing the hash of a flow for each request would take longer than the rest of
 * flow control.
 */
const HANDS_MAX = 1000

/** A flow schema together with its priority level. */
export type Flow = {
  readonly schema: FlowSchema
  readonly level: Level
  /** Response headers that identify the flow schema and the priority level. */
  readonly headers: Headers
  readonly series: FlowSeries
  readonly hands: Map<string, Hand>
}

export type FlowControlOptions = {
  readonly time: Time
  readonly metrics: FlowMetrics
  /** Number of seats of all priority levels together. */
  readonly seats: number
  readonly countObjects: CountObjects
  /** Whether a watch that begins with the existing objects takes as many seats as a list. */
  readonly countsInitialObjects: boolean
  /** Timeout for requests without a deadline of their own, such as watches. */
  readonly requestTimeoutMs: number
}

/** A request that needs seats. */
export type FlowControlRequest = {
  readonly user: User
  readonly info: RequestInfo
  /** Maximum duration of the request. Infinity means that there is no limit. */
  readonly timeoutMs: number
  /** The current time, on the monotonic clock. */
  readonly nowMs: number
  /**
   * The request. Its properties are read only when they are needed, because computing them costs
   * more than admitting most requests.
   */
  readonly request: EnteringRequest
}

export type EnteringRequest = {
  readonly query: URLSearchParams
  readonly headers?: { readonly 'content-length'?: string | readonly string[] | undefined }
  readonly hasBody?: boolean
  /** Signal that is aborted when the client disconnects. */
  readonly signal: AbortSignal
  /**
   * An object that identifies the connection. If the flow schema does not distinguish flows,
   * connections take turns.
   */
  readonly connection?: unknown
}

export class FlowControl implements Disposable {
  readonly #options: FlowControlOptions
  readonly #levels: Levels
  readonly #schemas = new Map<string, FlowSchema>()
  readonly #watches = new WatchCounts()
  readonly #scheduler: TickScheduler
  readonly #heldRefusals = new HeldRefusals()
  /** Metric series of the flow of the last request. */
  #lastSeries: FlowSeries | undefined
  #lastDistinguisher = ''
  /**
   * Classifier for the current flow schemas. Undefined after a change of flow schemas or priority
   * levels, until the next request.
   */
  #classifier: Classifier<Flow> | undefined
  #shown: readonly Flow[] = []
  readonly #dividing: Timer
  readonly #own: FlowSeries
  /**
   * The hand (set of queues) of requests whose flow schema does not distinguish flows. It has only
   * one queue.
   */
  readonly #onlyQueue = new Hand([0])

  constructor(options: FlowControlOptions) {
    this.#options = options
    const { time, metrics, seats } = options
    this.#levels = new Levels({ time, metrics, seats })
    this.#scheduler = new TickScheduler({ defer: time.defer, shortensContended: true })
    this.#own = metrics.flows.series('exempt', 'exempt')
    this.#dividing = time.every(DIVIDE_MS, () => {
      // `#latest` applies pending changes, and also divides the seats.
      if (this.#classifier === undefined) this.#latest()
      else this.#levels.divide()
    })
  }

  [Symbol.dispose](): void {
    this.#dividing.close()
  }

  /** Sets a flow schema, or deletes it if `schema` is undefined. */
  setSchema(name: string, schema: FlowSchema | undefined): void {
    if (schema === undefined) this.#schemas.delete(name)
    else this.#schemas.set(name, schema)
    this.#classifier = undefined
  }

  setLevel(name: string, spec: LevelSpec | undefined): void {
    this.#levels.set(name, spec)
    this.#classifier = undefined
  }

  names(what: 'schemas' | 'levels'): Iterable<string> {
    return what === 'schemas' ? this.#schemas.keys() : this.#levels.names()
  }

  /** Returns the priority levels, for the dump pages. */
  levels(): readonly Level[] {
    this.#latest()
    return this.#levels.all()
  }

  /** Updates the metrics that do not change with every request. */
  recordMetrics(): void {
    const nowMs = this.#options.time.monotonicMs()
    for (const { queues } of this.levels()) queues.recordProgress()
    for (const kind of Object.values(this.#options.metrics.kinds)) {
      kind.executingTime.set(kind.executing, nowMs)
      kind.waitingTime.set(kind.waiting, nowMs)
    }
  }

  /** Returns the flow of a request. Undefined only during startup, while no flow schema exists. */
  classify(user: User, info: RequestInfo): Flow | undefined {
    return this.#latest().classify(user, info)
  }

  /**
   * Counts a request that the server sends to itself. Such requests never wait, because other
   * requests might be waiting for them.
   */
  countOwn(): void {
    this.#own.dispatched.value++
  }

  /**
   * Returns the seats of the request, immediately or when they become available. Throws or rejects
   * with a TextError if the request is rejected.
   */
  enter(flow: Flow, entering: FlowControlRequest): MaybePromise<Seat> {
    const { level, series } = flow
    const { user, info } = entering
    const { isExempt, queuing } = level.spec
    const isHashed = queuing !== undefined && queuing.queues > 1
    const distinguisher = isHashed ? distinguisherOf(flow.schema, user, info) : ''
    const work = this.#estimate(flow, entering)
    const isWrite = !isReadOnly(info)
    const { mutating, readOnly } = this.#options.metrics.kinds
    const seat = new Seat(level, isWrite ? mutating : readOnly, {
      series,
      distinguisher,
      work,
      asked: entering,
    })
    // An exempt request holds no seats while it only waits for the next tick. Otherwise, these
    // seats would be taken from the other priority levels.
    if (isExempt) return this.#begin(seat, entering, isWrite)
    const outcome = level.queues.enter(
      seat,
      isHashed ? this.#handOf(flow, distinguisher) : this.#onlyQueue,
      entering.nowMs,
    )
    if (outcome === 'seated') {
      series.waitSeconds(true).observe(0)
      return this.#begin(seat, entering, isWrite)
    }
    if (outcome === 'waiting') return this.#wait(seat, entering, isWrite)
    series.waitSeconds(false).observe(0)
    return this.#refuse(flow, user.name)
  }

  /** Counts a new watch. Returns the function to call when the watch ends. */
  countWatch(info: RequestInfo, query: URLSearchParams): (() => void) | undefined {
    return info.kind === 'resource' ? this.#watches.add(info, query) : undefined
  }

  #latest(): Classifier<Flow> {
    return (this.#classifier ??= this.#renew())
  }

  #renew(): Classifier<Flow> {
    this.#levels.apply()
    const all = new Map(mandatorySchemas.map((schema) => [schema.name, schema]))
    for (const [name, schema] of this.#schemas) {
      // A flow schema whose priority level does not exist is ignored, even if it would replace a
      // mandatory schema.
      if (this.#levels.get(schema.level) !== undefined) all.set(name, schema)
    }
    const shown: Flow[] = []
    const classifier = new Classifier(all.values(), (schema) => {
      const flow = this.#flowOf(schema)
      if (flow !== undefined) shown.push(flow)
      return flow
    })
    for (const { schema } of this.#shown) {
      // Bounded: there are few FlowSchemas, because only administrators create them.
      const isShown = shown.some(
        (flow) => flow.schema.name === schema.name && flow.schema.level === schema.level,
      )
      if (!isShown) this.#options.metrics.flows.forget(schema.name, schema.level)
    }
    this.#shown = shown
    return classifier
  }

  #flowOf(schema: FlowSchema): Flow | undefined {
    const level = this.#levels.get(schema.level)
    if (level === undefined) return undefined
    const headers = headersOf(schema.uid, level.spec.uid)
    return {
      schema,
      level,
      headers,
      series: this.#options.metrics.flows.series(schema.name, schema.level),
      hands: new Map(),
    }
  }

  #estimate({ level, series }: Flow, { info, request }: FlowControlRequest): Work {
    const { countObjects, countsInitialObjects } = this.#options
    const isPlain = info.kind !== 'resource' || info.verb === 'get'
    const bodyBytes = isPlain ? 0 : announcedBytes(request)
    const work = isPlain
      ? oneSeat
      : estimateWork(
          { countObjects, countsInitialObjects, watches: this.#watches },
          { info, query: request.query, seatsMax: level.requestSeatsMax, bodyBytes, series },
        )
    series.estimatedSeats().observe(Math.max(work.initialSeats, work.finalSeats))
    return work
  }

  /**
   * Returns the hand of a flow, which is the set of its queues. All requests of the flow share one
   * object.
   */
  #handOf({ schema, level, hands }: Flow, distinguisher: string): Hand {
    const key = boundedKey(distinguisher)
    const known = hands.get(key)
    if (known !== undefined) return known
    const { queuing } = level.spec
    const hand =
      queuing === undefined
        ? this.#onlyQueue
        : handOf(hashOfFlow(schema.name, distinguisher), queuing)
    if (hands.size >= HANDS_MAX) hands.clear()
    // Copy the key of the flow, because it might be a slice of a long path.
    hands.set(ownText(key), hand)
    return hand
  }

  /** Starts the request, immediately if the current tick has capacity. */
  #begin(seat: Seat, { request }: FlowControlRequest, isWrite: boolean): MaybePromise<Seat> {
    const { level, series, distinguisher } = seat
    if (series !== this.#lastSeries || distinguisher !== this.#lastDistinguisher) {
      if (this.#lastSeries !== undefined) this.#scheduler.markContended()
      this.#lastSeries = series
      this.#lastDistinguisher = distinguisher
    }
    const weight = startWeight(isWrite, seat.work.initialSeats)
    if (this.#scheduler.tryStart(weight)) return this.#seated(seat)
    return new Promise((resolve) =>
      this.#scheduler.enqueue({
        group: level,
        // The scheduler lets flows take turns, not queues. Several flows can share a queue, and a
        // flow must not wait for another flow.
        flow: distinguisher === '' ? request.connection : `${series.schema}/${distinguisher}`,
        weight,
        start: () => {
          resolve(this.#seated(seat))
          return true
        },
      }),
    )
  }

  #seated(seat: Seat): Seat {
    if (seat.level.spec.isExempt) seat.level.queues.enter(seat, this.#onlyQueue)
    seat.begin()
    return seat
  }

  #wait(seat: Seat, entering: FlowControlRequest, isWrite: boolean): Promise<Seat> {
    const { time, requestTimeoutMs } = this.#options
    const { level, kind, series } = seat
    const timeoutMs = entering.timeoutMs === Infinity ? requestTimeoutMs : entering.timeoutMs
    const { signal } = entering.request
    recordWaiting(kind, 1, seat.arrivedMs)
    return new Promise((resolve, reject) => {
      const giveUp = (why: 'timedOut' | 'cancelled'): void => {
        if (!level.queues.giveUp(seat, why)) return
        end(false)
        reject(this.#refusal(level))
      }
      const onGone = (): void => giveUp('cancelled')
      const timer = time.after(Math.min(timeoutMs * WAIT_SHARE, WAIT_MS_MAX), () =>
        giveUp('timedOut'),
      )
      const end = (isExecuted: boolean): void => {
        timer.close()
        signal.removeEventListener('abort', onGone)
        const nowMs = time.monotonicMs()
        recordWaiting(kind, -1, nowMs)
        series.waitSeconds(isExecuted).observe((nowMs - seat.arrivedMs) / 1000)
      }
      seat.onSeated = () => {
        end(true)
        resolve(this.#begin(seat, entering, isWrite))
      }
      signal.addEventListener('abort', onGone, { once: true })
      if (signal.aborted) onGone()
    })
  }

  /**
   * Rejects a request. Rejections are counted by user, even if the flow schema does not distinguish
   * users.
   */
  #refuse({ schema, level }: Flow, user: string): Promise<Seat> {
    const { time } = this.#options
    const refusal = this.#refusal(level)
    const holdMs = this.#heldRefusals.holdMs(`${schema.name}/${user}`, time.monotonicMs())
    if (holdMs === 0) throw refusal
    return new Promise((_, reject) => {
      time.after(holdMs, () => {
        this.#heldRefusals.end()
        reject(refusal)
      })
    })
  }

  #refusal({ retryAfter }: Level): Error {
    return overloaded(retryAfter.refuse(this.#options.time.wallMs()))
  }
}

/** The seats that a request holds while it is executed. */
export class Seat extends FlowRequest {
  readonly level: Level
  readonly kind: KindSeries

  constructor(level: Level, kind: KindSeries, options: FlowRequestOptions) {
    super(options)
    this.level = level
    this.kind = kind
  }

  begin(): void {
    const { kind } = this
    this.series.dispatched.value++
    kind.executing++
    kind.executingTime.set(kind.executing, this.startedMs)
  }

  /**
   * Releases the seats. Further calls have no effect. `atMs` is the current time, if the caller has
   * already read the clock.
   */
  leave(atMs?: number): void {
    if (this.state !== 'executing') return
    const { kind } = this
    this.level.queues.finish(this, atMs)
    const nowMs = this.endedMs
    kind.executing--
    kind.executingTime.set(kind.executing, nowMs)
    const isWatch = this.asked.info.verb === 'watch'
    this.series.executionSeconds(isWatch).observe((nowMs - this.startedMs) / 1000)
  }

  /** Retains the seats of a long response until the client has received it. */
  keep(): this {
    return this
  }

  /**
   * Releases the seats while a response is being written. Called when the client reads so slowly
   * that the server has almost nothing to do.
   */
  stall(): void {
    this.leave()
  }
}

function recordWaiting(kind: KindSeries, by: 1 | -1, nowMs: number): void {
  kind.waiting += by
  kind.waitingTime.set(kind.waiting, nowMs)
}

/**
 * Returns the length of the body. If the Content-Length header is missing, which is rare, the body
 * counts as long. Otherwise, clients could omit the header to get a lower estimate.
 */
function announcedBytes({ headers, hasBody = false }: EnteringRequest): number {
  const length = headers?.['content-length']
  return length === undefined ? (hasBody ? LONG_BODY_BYTES : 0) : Number(length)
}

const isReadOnly = ({ kind, verb }: RequestInfo): boolean =>
  kind === 'resource' ? readVerbs.has(verb) || verb === 'proxy' : readPathVerbs.has(verb)

const headersOf = (schema: string, level: string): Headers => ({
  'x-kubernetes-pf-flowschema-uid': schema,
  'x-kubernetes-pf-prioritylevel-uid': level,
})
