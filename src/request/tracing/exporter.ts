/**
 * Sends ended spans to a collector, in batches, over gRPC. Neither a slow collector nor none at all
 * holds anything up: what does not fit into the queue is dropped, and counted.
 */
import type { SpanAttributes } from '../../api/span.ts'
import { messageOf } from '../../lib/errors.ts'
import { Channel, type Method } from '../../net/grpc/channel.ts'
import { Endpoints } from '../../net/grpc/endpoints.ts'
import { unixEndpoint } from '../../net/grpc/unix-socket.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Dial } from '../../lib/net/dial.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Count, Metrics } from '../../lib/telemetry/metrics.ts'
import { withTimeout } from '../../lib/time/timers.ts'
import { SpanBatch } from './otlp.ts'
import type { EndedSpan } from './tracer.ts'

/**
 * OpenTelemetry's defaults: spans that wait, spans in a request, and how long one waits for others
 * at most.
 */
const QUEUE_MAX = 2048
/**
 * Of spans that wait: most have some hundred bytes, but a client may send paths and headers that
 * make them a hundred times as long.
 */
const QUEUE_BYTES_MAX = 8 << 20
const BATCH_MAX = 512
const DELAY_MS = 5_000
/** Of a request, with its retries. */
const EXPORT_MS_MAX = 10_000
/**
 * Of the spans in a request, but for the last one: servers of gRPC take messages of 4 MiB, if
 * nobody tells them otherwise.
 */
const MESSAGE_BYTES_MAX = 3 << 20
/**
 * How long the end of the server waits for the last spans to leave. With what audit events have
 * (request/audit/backend.ts) less than all parts have (stop-all.ts).
 */
const FLUSH_MS_MAX = 1_000

export type ExporterOptions = {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly resource: SpanAttributes
  /** Undefined: the collector is connected to straight. */
  readonly dial?: Dial | undefined
  /** Absent: OpenTelemetry's default. */
  readonly delayMs?: number
}

export class Exporter implements AsyncDisposable {
  readonly #endpoints: Endpoints
  readonly #channel: Channel
  readonly #options: ExporterOptions
  readonly #exported: Count
  readonly #dropped: Count
  readonly #failed: Count
  /** In their order; the last one may take more spans. */
  #batches: SpanBatch[] = []
  /** How many spans are in them, and their bytes. */
  #waiting = 0
  #waitingBytes = 0
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  #hasFailed = false
  #hasUnencodable = false

  /** `endpoint`: in gRPC's syntax. */
  constructor(endpoint: string, options: ExporterOptions) {
    const { clock, log, metrics, dial } = options
    this.#options = options
    this.#endpoints = new Endpoints({
      urls: [collectorUrl(endpoint)],
      tls: undefined,
      dial,
      clock,
      log,
    })
    this.#channel = new Channel({ endpoints: this.#endpoints, clock, timeoutMs: EXPORT_MS_MAX })
    const counter = (name: string, help: string) =>
      metrics.counter({ name: `keelson_spans_${name}_total`, help }).with()
    this.#exported = counter('exported', 'Spans that a collector of traces has taken.')
    this.#dropped = counter('dropped', 'Spans that were dropped since more were made than sent.')
    this.#failed = counter('failed', 'Spans that the collector of traces did not take.')
  }

  readonly add = (span: EndedSpan): void => {
    if (this.#waiting >= QUEUE_MAX || this.#waitingBytes >= QUEUE_BYTES_MAX) {
      this.#dropped.value++
      return
    }
    const last = this.#batches.at(-1)
    const batch = last === undefined || isFull(last) ? this.#open() : last
    const before = batch.bytes
    if (!this.#encode(batch, span)) return
    this.#waiting++
    this.#waitingBytes += batch.bytes - before
    if (isFull(batch)) this.#begin()
    else this.#timer ??= setTimeout(() => this.#begin(), this.#options.delayMs ?? DELAY_MS).unref()
  }

  /** False: it cannot be. The others are sent without it. */
  #encode(batch: SpanBatch, span: EndedSpan): boolean {
    try {
      batch.add(span)
      return true
    } catch (error) {
      this.#failed.value++
      if (!this.#hasUnencodable) {
        this.#options.log('error', 'a span cannot be encoded; others like it are not told of', {
          error: String(error),
        })
      }
      this.#hasUnencodable = true
      return false
    }
  }

  #open(): SpanBatch {
    const batch = new SpanBatch()
    this.#batches.push(batch)
    return batch
  }

  /** Resolves when what has come until now has been sent, or could not be. Never fails. */
  async flush(): Promise<void> {
    this.#begin()
    await this.#sending
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer)
    await withTimeout(this.flush(), FLUSH_MS_MAX, { onTimeout: () => undefined })
    this.#endpoints.close()
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
    })
  }

  async #sendAll(): Promise<void> {
    for (let batch = this.#batches.shift(); batch !== undefined; batch = this.#batches.shift()) {
      this.#waiting -= batch.count
      this.#waitingBytes -= batch.bytes
      if (batch.count > 0) await this.#send(batch)
    }
  }

  /** Never fails. */
  async #send(batch: SpanBatch): Promise<void> {
    const { count } = batch
    try {
      await this.#export(batch.take({ resource: this.#options.resource, scope: SCOPE }))
      this.#exported.value += count
      this.#hasFailed = false
    } catch (error) {
      this.#failed.value += count
      this.#reportFailure(error)
    }
  }

  async #export(message: Buffer): Promise<void> {
    const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + message.length)
    frame.writeUInt8(0, 0)
    frame.writeUInt32BE(message.length, 1)
    message.copy(frame, FRAME_HEAD_BYTES)
    await this.#channel.unary(exportMethod, frame)
  }

  /** Once, until it succeeds again. */
  #reportFailure(error: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    this.#options.log('warn', 'spans could not be sent to the collector of traces', {
      error: messageOf(error),
    })
  }
}

const isFull = ({ count, bytes }: SpanBatch): boolean =>
  count >= BATCH_MAX || bytes >= MESSAGE_BYTES_MAX

const SCOPE = 'keelson'
const FRAME_HEAD_BYTES = 5

/** Spans that are sent twice have the same ids. */
const exportMethod: Method<undefined> = {
  path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  read: () => undefined,
  isRead: true,
  requireLeader: false,
}

/**
 * gRPC's names of servers: a resolver of names is not asked for by address, as the system's own is
 * used.
 */
export function collectorUrl(endpoint: string): string {
  const [, scheme = 'dns', rest = ''] =
    /^(?:(dns|unix|unix-abstract):(?:\/\/)?)?(.*)$/s.exec(endpoint) ?? []
  if (scheme === 'unix') return unixEndpoint(rest)
  if (scheme === 'unix-abstract') return unixEndpoint(`@${rest}`)
  const target = rest.includes('/') ? rest.slice(rest.indexOf('/') + 1) : rest
  return `http://${/:\d+$/.test(target) ? target : `${target}:${DEFAULT_PORT}`}`
}

/** gRPC's own, of a target that names none. */
const DEFAULT_PORT = 443
