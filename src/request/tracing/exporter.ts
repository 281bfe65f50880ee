/**
 * Sends ended spans to a collector over gRPC, in batches. A slow or missing collector does not
 * block requests. Spans that do not fit into the queue are dropped and counted.
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
 * Maximum number of queued spans. The queue length, batch size and delay are OpenTelemetry's
 * defaults.
 */
const QUEUE_MAX = 2048
/**
 * Maximum size of queued spans. Most spans have a few hundred bytes, but long paths and headers can
 * make them a hundred times as large.
 */
const QUEUE_BYTES_MAX = 8 << 20
const BATCH_MAX = 512
const DELAY_MS = 5_000
/** Timeout in milliseconds for an export, including retries. */
const EXPORT_MS_MAX = 10_000
/**
 * A batch that has reached this size accepts no more spans. By default, gRPC servers reject
 * messages of more than 4 MiB.
 */
const MESSAGE_BYTES_MAX = 3 << 20
/**
 * Maximum time that shutdown waits until the last spans are sent. The sum of this time and the time
 * for audit events (request/audit/backend.ts) must be less than the total shutdown timeout
 * (server/stop-all.ts).
 */
const FLUSH_MS_MAX = 1_000

export type ExporterOptions = {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly resource: SpanAttributes
  /** Opens connections to the collector. If undefined, the connections are direct. */
  readonly dial?: Dial | undefined
  /** Delay before a batch is sent. Absent for OpenTelemetry's default. */
  readonly delayMs?: number
}

export class Exporter implements AsyncDisposable {
  readonly #endpoints: Endpoints
  readonly #channel: Channel
  readonly #options: ExporterOptions
  readonly #exported: Count
  readonly #dropped: Count
  readonly #failed: Count
  /** Batches in the order in which they are sent. The last batch can accept more spans. */
  #batches: SpanBatch[] = []
  /** Number of spans in the batches, and their total size. */
  #waiting = 0
  #waitingBytes = 0
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  #hasFailed = false
  #hasUnencodable = false

  /** Creates an exporter. `endpoint` is the address of the collector in gRPC's syntax. */
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
    this.#exported = counter('exported', 'Spans that the trace collector accepted.')
    this.#dropped = counter('dropped', 'Spans that were dropped because the queue was full.')
    this.#failed = counter(
      'failed',
      'Spans that could not be encoded, or that the trace collector did not accept.',
    )
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

  /**
   * Encodes a span. Returns false if the span cannot be encoded. The other spans are then sent
   * without this span.
   */
  #encode(batch: SpanBatch, span: EndedSpan): boolean {
    try {
      batch.add(span)
      return true
    } catch (error) {
      this.#failed.value++
      if (!this.#hasUnencodable) {
        this.#options.log(
          'error',
          'a span cannot be encoded and is dropped; further encoding failures are not logged',
          {
            error: String(error),
          },
        )
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

  /** Resolves when all current spans have been sent, or could not be sent. Never rejects. */
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

  /** Sends a batch. Never rejects. */
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

  /** Logs a failure only once until an export succeeds again. */
  #reportFailure(error: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    this.#options.log('warn', 'spans could not be sent to the trace collector', {
      error: messageOf(error),
    })
  }
}

const isFull = ({ count, bytes }: SpanBatch): boolean =>
  count >= BATCH_MAX || bytes >= MESSAGE_BYTES_MAX

const SCOPE = 'keelson'
const FRAME_HEAD_BYTES = 5

/** An export can safely be repeated, because spans are identified by their IDs. */
const exportMethod: Method<undefined> = {
  path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  read: () => undefined,
  isRead: true,
  requireLeader: false,
}

/**
 * Converts a target in gRPC's syntax to a URL. A name server in the target is ignored, because the
 * operating system's resolver is used.
 */
export function collectorUrl(endpoint: string): string {
  const [, scheme = 'dns', rest = ''] =
    /^(?:(dns|unix|unix-abstract):(?:\/\/)?)?(.*)$/s.exec(endpoint) ?? []
  if (scheme === 'unix') return unixEndpoint(rest)
  if (scheme === 'unix-abstract') return unixEndpoint(`@${rest}`)
  const target = rest.includes('/') ? rest.slice(rest.indexOf('/') + 1) : rest
  return `http://${/:\d+$/.test(target) ? target : `${target}:${DEFAULT_PORT}`}`
}

/** Default port if the target does not specify one, as in gRPC. */
const DEFAULT_PORT = 443
