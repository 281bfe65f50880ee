/** A span of a trace: something that took time, with what it was about. Only traced requests have any (src/tracing). */
export type SpanAttributes = { readonly [name: string]: string | number | boolean }

export type SpanOptions = {
  /** `client`: a call of another program. */
  readonly kind?: 'internal' | 'client'
  readonly attributes?: SpanAttributes
  /** On the monotonic clock. Absent: now. */
  readonly startMs?: number
}

export interface Span {
  /** The headers that hand the trace on to another program: W3C Trace Context. */
  readonly headers: Readonly<Record<string, string>>
  child(name: string, options?: SpanOptions): Span
  set(attributes: SpanAttributes): void
  /** Something that happened during it. */
  event(name: string, attributes?: SpanAttributes): void
  /** `error`: it failed, and why. */
  end(options?: { readonly error?: string | undefined; readonly endMs?: number }): void
}
