/**
 * Makes spans of requests that are traced. Upstream's rules: what a privileged client traces already is followed if it says so; all others
 * begin traces of their own, by chance.
 */
import type { Span, SpanAttributes, SpanOptions } from '../api/span.ts'
import type { Clock } from '../lib/clock.ts'
import { printTraceContext, type TraceContext } from './trace-context.ts'

/** What is exported of a span. Times are Unix times in nanoseconds. */
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

export type TracerParts = {
  readonly samplingRatePerMillion: number
  readonly clock: Clock
  readonly randomBytes: (count: number) => Buffer
  readonly onEnd: (span: EndedSpan) => void
  /** Runs work in which this span is the current one. */
  readonly run: <T>(span: Span, work: () => T) => T
}

export type RequestSpan = {
  readonly name: string
  readonly startMs: number
  readonly attributes: SpanAttributes
  /** What the client sent, if it did. */
  readonly remote: TraceContext | undefined
  /** Whether the client may decide that its requests are traced. */
  readonly isTrusted: boolean
}

const TRACE_ID_BYTES = 16
const SPAN_ID_BYTES = 8
const RATE_MAX = 1_000_000n

export class Tracer {
  readonly #parts: TracerParts
  /** A trace is sampled if the lower half of its id, without its last bit, is below this. */
  readonly #bound: bigint
  /** What the wall clock shows when the monotonic one is 0. */
  readonly #originMs: number

  constructor(parts: TracerParts) {
    this.#parts = parts
    this.#bound = (BigInt(parts.samplingRatePerMillion) << 63n) / RATE_MAX
    this.#originMs = parts.clock.wallMs() - parts.clock.monotonicMs()
  }

  /** Undefined: the request is not traced. */
  begin({ name, startMs, attributes, remote, isTrusted }: RequestSpan): Span | undefined {
    const parent = isTrusted ? remote : undefined
    const traceId = parent?.traceId ?? this.#parts.randomBytes(TRACE_ID_BYTES)
    const isSampled = parent?.isSampled ?? this.#isChosen(traceId)
    if (!isSampled) return undefined
    return this.start({
      traceId,
      state: parent?.state ?? '',
      parentId: parent?.spanId,
      link: isTrusted ? undefined : remote,
      name,
      kind: 'server',
      startMs,
      attributes,
    })
  }

  start({ traceId, state, startMs, ...options }: Started): TracedSpan {
    const spanId = this.#parts.randomBytes(SPAN_ID_BYTES)
    const startNs = this.toNs(startMs ?? this.nowMs())
    return new TracedSpan(this, { ...options, context: { traceId, spanId, isSampled: true, state }, startNs })
  }

  nowMs(): number {
    return this.#parts.clock.monotonicMs()
  }

  toNs(monotonicMs: number): bigint {
    return BigInt(Math.round((this.#originMs + monotonicMs) * 1000)) * 1000n
  }

  run<T>(span: Span, work: () => T): T {
    return this.#parts.run(span, work)
  }

  ended(span: EndedSpan): void {
    this.#parts.onEnd(span)
  }

  #isChosen(traceId: Buffer): boolean {
    return this.#bound > 0n && traceId.readBigUInt64BE(TRACE_ID_BYTES / 2) >> 1n < this.#bound
  }
}

type Started = Pick<EndedSpan, 'parentId' | 'name' | 'kind' | 'attributes' | 'link'> & {
  readonly traceId: Buffer
  readonly state: string
  readonly startMs: number | undefined
}

type Begun = Pick<EndedSpan, 'context' | 'parentId' | 'name' | 'kind' | 'attributes' | 'link' | 'startNs'>

class TracedSpan implements Span {
  readonly #tracer: Tracer
  readonly #begun: Begun
  #attributes: SpanAttributes
  #hasEnded = false

  constructor(tracer: Tracer, begun: Begun) {
    this.#tracer = tracer
    this.#begun = begun
    this.#attributes = begun.attributes
  }

  get headers(): Readonly<Record<string, string>> {
    return printTraceContext(this.#begun.context)
  }

  child(name: string, { kind = 'internal', attributes = {}, startMs }: SpanOptions = {}): Span {
    const { traceId, state, spanId: parentId } = this.#begun.context
    return this.#tracer.start({ traceId, state, parentId, name, kind, attributes, startMs, link: undefined })
  }

  set(attributes: SpanAttributes): void {
    this.#attributes = { ...this.#attributes, ...attributes }
  }

  run<T>(work: () => T): T {
    return this.#tracer.run(this, work)
  }

  end({ error, endMs }: { readonly error?: string | undefined; readonly endMs?: number } = {}): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const endNs = this.#tracer.toNs(endMs ?? this.#tracer.nowMs())
    this.#tracer.ended({ ...this.#begun, attributes: this.#attributes, endNs, error })
  }
}
