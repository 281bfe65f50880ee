/**
 * The `batch` mode: events are buffered and stored later in batches. No request waits for its
 * events.
 */
import { TokenBucket } from '../../lib/time/token-bucket.ts'
import { Deque } from '../../lib/collections/deque.ts'
import { withTimeout, sleep, type Time } from '../../lib/time/timers.ts'
import type { AuditMode } from '../../config/audit.ts'
import { type AuditBackend, type EventSink, FLUSH_MS_MAX } from './backend.ts'
import { type AuditEvent, printedEvent } from './event.ts'
import type { ReportLost } from './lost.ts'
import { truncated } from './truncate.ts'

export type BatchOptions = {
  readonly mode: Extract<AuditMode, { kind: 'batch' }>
  /** Maximum number of batches that are stored concurrently. */
  readonly batchesMax: number
  /** Maximum size of an event. Infinity if events are not truncated. */
  readonly eventBytesMax: number
  /** Maximum size of a batch. Larger batches are divided. */
  readonly batchBytesMax: number
  /** Maximum size of the events that are buffered or being stored. Further events are lost. */
  readonly bufferBytes: number
  readonly time: Time
  readonly reportLost: ReportLost
}

/**
 * A group of events that were passed to the sink (the destination of events) one by one. They share
 * a promise because they are stored together.
 */
type Group = { readonly promise: Promise<boolean>; events: number }

const ignoreStop = (): undefined => undefined

export class BatchBackend implements AuditBackend {
  readonly isStrict = false
  /**
   * Always true, although batches are stored concurrently. No request waits for its events, so a
   * later event need not wait for an earlier one.
   */
  readonly isOrdered = true
  readonly eventBytesMax: number
  readonly #sink: EventSink
  readonly #options: BatchOptions
  readonly #throttle: TokenBucket | undefined
  readonly #buffer = new Deque<AuditEvent>()
  /**
   * Size of all events that are buffered or being stored, except those passed to the sink one by
   * one.
   */
  #bytes = 0
  readonly #storing = new Set<Promise<void>>()
  /** Number of events that were passed to the sink one by one and are not stored yet. */
  #single = 0
  /**
   * The last events that were passed to the sink one by one. The sink might store them together
   * with the next event.
   */
  #group: Group | undefined
  #running: Promise<void> | undefined
  /** Ends the wait for a full batch. */
  #wake: (() => void) | undefined
  readonly #stopping = new AbortController()
  /**
   * Whether the backend is shutting down. Checking this flag for each event is faster than checking
   * the signal.
   */
  #isStopping = false

  constructor(sink: EventSink, options: BatchOptions) {
    const { mode, time, eventBytesMax } = options
    this.#sink = sink
    this.#options = options
    this.eventBytesMax = eventBytesMax
    const { throttle } = mode
    this.#throttle =
      throttle === null
        ? undefined
        : new TokenBucket(throttle.burst, throttle.batchesPerSecond, time.monotonicMs())
  }

  /**
   * Buffers an event. Always returns true. If the event does not fit into the buffer, it is lost
   * and its request continues.
   */
  process(event: AuditEvent): boolean {
    const { mode, reportLost, bufferBytes } = this.#options
    const fitting = truncated(event, this.eventBytesMax, reportLost)
    if (fitting === undefined) return true
    if (this.#isStopping) reportLost('buffered', [fitting], 'audit backend shut down')
    else if (
      this.#buffer.length + this.#single >= mode.bufferEventsMax ||
      this.#bytes > bufferBytes
    ) {
      reportLost('buffered', [fitting], 'audit buffer queue blocked')
    } else if (mode.batchEventsMax === 1 && mode.throttle === null) this.#storeOne(fitting)
    // Serialize the event only once, because its JSON is needed several times: to measure it, to
    // divide batches and to send it.
    else this.#add(printedEvent(fitting, Buffer.concat(fitting.pieces())))
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true
    this.#stopping.abort()
    this.#wake?.()
    const stored = this.#settled()
    await withTimeout(stored, FLUSH_MS_MAX, {
      onTimeout: () => undefined,
      timers: this.#options.time,
    })
    await this.#sink.close(0)
    await stored
  }

  /**
   * Stores an event as a batch with a single event. The sink combines such events and limits their
   * total size. The maximum number of buffered events is the same as in kube-apiserver. No request
   * waits for these events. Therefore they can be delayed and written together with others, unless
   * the buffer fills up.
   */
  #storeOne(event: AuditEvent): void {
    this.#single++
    const isFilling = this.#single * 2 >= this.#options.mode.bufferEventsMax
    const promise = this.#sink.store([event], isFilling ? 'now' : 'soon')
    const group = this.#group
    if (group?.promise === promise) group.events++
    else this.#follow({ promise, events: 1 })
  }

  #follow(group: Group): void {
    this.#group = group
    const storing: Promise<void> = group.promise.then(() => {
      if (this.#group === group) this.#group = undefined
      this.#single -= group.events
      this.#storing.delete(storing)
    })
    this.#storing.add(storing)
  }

  #add(event: AuditEvent): void {
    this.#buffer.push(event)
    this.#bytes += event.printedBytes
    if (this.#buffer.length >= this.#options.mode.batchEventsMax) this.#wake?.()
    this.#running ??= this.#run()
  }

  async #settled(): Promise<void> {
    await this.#running
    await Promise.all(this.#storing)
  }

  /** Stores batches until the buffer is empty. */
  async #run(): Promise<void> {
    while (this.#buffer.length > 0) {
      await this.#untilFull()
      await this.#untilAllowed()
      while (this.#storing.size >= this.#options.batchesMax) await Promise.race(this.#storing)
      const storing: Promise<void> = this.#store(this.#take()).then(
        () => void this.#storing.delete(storing),
      )
      this.#storing.add(storing)
    }
    this.#running = undefined
  }

  /** Waits until there are enough events for a batch, or until the maximum wait has passed. */
  async #untilFull(): Promise<void> {
    const { mode, time } = this.#options
    if (this.#isStopping || this.#buffer.length >= mode.batchEventsMax) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = time.after(Math.max(0, mode.waitMs), resolve)
    this.#wake = resolve
    await promise
    timer.close()
    this.#wake = undefined
  }

  /** Waits until the rate limit allows a batch. During shutdown, returns without waiting. */
  async #untilAllowed(): Promise<void> {
    const { mode, time } = this.#options
    const pauseMs = 1000 / (mode.throttle?.batchesPerSecond ?? 1)
    const { signal } = this.#stopping
    while (!this.#isStopping && this.#throttle?.take(time.monotonicMs()) === false) {
      await sleep(time, pauseMs, signal).catch(ignoreStop)
    }
  }

  #take(): readonly AuditEvent[] {
    const { mode, batchBytesMax } = this.#options
    const batch: AuditEvent[] = []
    let bytes = 0
    while (batch.length < mode.batchEventsMax) {
      const next = this.#buffer.at(0)
      if (next === undefined) return batch
      bytes += next.printedBytes + 1
      if (batch.length > 0 && bytes > batchBytesMax) return batch
      batch.push(next)
      this.#buffer.shift()
    }
    return batch
  }

  async #store(batch: readonly AuditEvent[]): Promise<void> {
    await this.#sink.store(batch, 'now')
    for (const { printedBytes } of batch) this.#bytes -= printedBytes
  }
}
