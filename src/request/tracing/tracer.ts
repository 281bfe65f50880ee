/**
 * Creates spans for traced requests, by kube-apiserver's rules. If a privileged client sends a
 * trace context, this context determines whether the request is traced. All other requests start
 * new traces, which are sampled at random.
 */
import type { Span, SpanAttributes, SpanOptions } from '../../api/span.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { RandomPool } from '../../lib/bytes/random-pool.ts'
import { printTraceContext, type TraceContext } from './trace-context.ts'

/** A span in the form in which it is exported. Times are Unix times in nanoseconds. */
export type EndedSpan = {
  readonly context: TraceContext
  readonly parentId: Buffer | undefined
  readonly name: string
  readonly kind: SpanKind
  readonly startNs: bigint
  readonly endNs: bigint
  readonly attributes: SpanAttributes
  /** Another trace that caused this one. */
  readonly link: TraceContext | undefined
  readonly error: string | undefined
}

export type SpanKind = 'internal' | 'server' | 'client'

export type TracerOptions = {
  readonly samplingRatePerMillion: number
  readonly clock: Clock
  readonly fillRandom: (bytes: Buffer) => void
  readonly onEnd: (span: EndedSpan) => void
  /** Runs work with this span as the current span. */
  readonly run: <T>(span: Span, work: () => T) => T
}

/** The trace context that a client sent, if any. */
export type RemoteTrace = {
  readonly remote: TraceContext | undefined
  /** Whether the client can decide with its trace context that its requests are traced. */
  readonly isTrusted: boolean
}

/** The properties of a request that are part of its span. */
export type RequestSpan = Pick<EndedSpan, 'name' | 'attributes'> & { readonly startMs: number }

const TRACE_ID_BYTES = 16
const SPAN_ID_BYTES = 8
const RATE_MAX = 1_000_000n
/**
 * The random number for sampling has 63 bits. Comparing its first 31 bits is almost always
 * sufficient.
 */
const LOWER_BITS = 32n
/**
 * Maximum length of strings in spans. Clients can influence these strings. The queue limits only
 * the number of spans, so the size of each span must also be limited.
 */
const TEXT_CHARACTERS_MAX = 1024

export class Tracer {
  readonly #options: TracerOptions
  /**
   * A trace is sampled if the lower half of its ID, without the last bit, is less than this number.
   */
  readonly #bound: bigint
  /** The first 31 bits of `#bound`. */
  readonly #upperBound: number
  /** Wall-clock time at which the monotonic clock is 0. */
  readonly #originMs: number
  readonly #random: RandomPool

  constructor(options: TracerOptions) {
    this.#options = options
    this.#bound = (BigInt(options.samplingRatePerMillion) << 63n) / RATE_MAX
    this.#upperBound = Number(this.#bound >> LOWER_BITS)
    this.#originMs = options.clock.wallMs() - options.clock.monotonicMs()
    this.#random = new RandomPool(options.fillRandom)
  }

  /**
   * Starts the span of a request, or returns undefined if the request is not traced. `describe` is
   * called only for traced requests, so that other requests cause no costs.
   */
  begin({ remote, isTrusted }: RemoteTrace, describe: () => RequestSpan): Span | undefined {
    const parent = isTrusted ? remote : undefined
    const traceId =
      parent === undefined ? this.#chosenId() : parent.isSampled ? parent.traceId : undefined
    if (traceId === undefined) return undefined
    const { name, startMs, attributes } = describe()
    return this.start({
      context: this.#contextOf(traceId, parent?.state ?? ''),
      parentId: parent?.spanId,
      name,
      kind: 'server',
      startMs,
      attributes,
      link: isTrusted ? undefined : remote,
    })
  }

  /** Starts a child of the span in this context. */
  child({ traceId, state, spanId }: TraceContext, name: string, options: SpanOptions): Span {
    return this.start({
      context: this.#contextOf(traceId, state),
      parentId: spanId,
      name,
      kind: options.kind ?? 'internal',
      startMs: options.startMs ?? this.nowMs(),
      attributes: options.attributes ?? noAttributes,
      link: undefined,
    })
  }

  start(begun: OpenSpan): TracedSpan {
    return new TracedSpan(this, begun)
  }

  #contextOf(traceId: Buffer, state: string): TraceContext {
    return { traceId, spanId: this.#random.take(SPAN_ID_BYTES), isSampled: true, state }
  }

  nowMs(): number {
    return this.#options.clock.monotonicMs()
  }

  toNs(monotonicMs: number): bigint {
    return BigInt(Math.round((this.#originMs + monotonicMs) * 1000)) * 1000n
  }

  run<T>(span: Span, work: () => T): T {
    return this.#options.run(span, work)
  }

  ended(span: EndedSpan): void {
    this.#options.onEnd(span)
  }

  /** Returns the ID of a new trace. Undefined if it is not sampled. */
  #chosenId(): Buffer | undefined {
    const id = this.#random.next(TRACE_ID_BYTES)
    const lowerAt = TRACE_ID_BYTES / 2
    const upper = id.readUInt32BE(lowerAt) >>> 1
    if (upper > this.#upperBound) return undefined
    if (id.readBigUInt64BE(lowerAt) >> 1n >= this.#bound) return undefined
    return Buffer.from(id)
  }
}

type OpenSpan = Pick<
  EndedSpan,
  'context' | 'parentId' | 'name' | 'kind' | 'attributes' | 'link'
> & {
  /** Time on the monotonic clock when the span started. */
  readonly startMs: number
}

const noAttributes: SpanAttributes = {}

class TracedSpan implements Span {
  readonly #tracer: Tracer
  readonly #begun: OpenSpan
  #attributes: SpanAttributes
  #hasEnded = false

  constructor(tracer: Tracer, begun: OpenSpan) {
    this.#tracer = tracer
    this.#begun = begun
    this.#attributes = allBounded(begun.attributes)
  }

  get headers(): Readonly<Record<string, string>> {
    return printTraceContext(this.#begun.context)
  }

  child(name: string, options: SpanOptions = {}): Span {
    return this.#tracer.child(this.#begun.context, name, options)
  }

  set(attributes: SpanAttributes): void {
    this.#attributes = { ...this.#attributes, ...allBounded(attributes) }
  }

  run<T>(work: () => T): T {
    return this.#tracer.run(this, work)
  }

  end({
    error,
    endMs,
  }: {
    readonly error?: string | undefined
    readonly endMs?: number
  } = {}): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const tracer = this.#tracer
    const { context, parentId, name, kind, startMs, link } = this.#begun
    // List the properties, because spreading the object would take several times as long, and a
    // request can have dozens of spans.
    tracer.ended({
      context,
      parentId,
      name: bounded(name),
      kind,
      startNs: tracer.toNs(startMs),
      endNs: tracer.toNs(endMs ?? tracer.nowMs()),
      attributes: this.#attributes,
      link,
      error: error === undefined ? undefined : bounded(error),
    })
  }
}

const isLong = (value: unknown): boolean =>
  typeof value === 'string' && value.length > TEXT_CHARACTERS_MAX

/**
 * Truncates a long string to a copy of its beginning. A slice would keep the whole string in
 * memory.
 */
const bounded = (text: string): string =>
  isLong(text) ? Buffer.from(text.slice(0, TEXT_CHARACTERS_MAX)).toString() : text

function allBounded(attributes: SpanAttributes): SpanAttributes {
  for (const name in attributes) if (isLong(attributes[name])) return boundedCopy(attributes)
  return attributes
}

const boundedCopy = (attributes: SpanAttributes): SpanAttributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === 'string' ? bounded(value) : value,
    ]),
  )
