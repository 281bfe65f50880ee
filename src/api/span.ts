/**
 * A span of a trace: something that took time, with what it was about. Only traced requests have
 * any (src/request/tracing).
 */
import { messageOf } from '../lib/errors.ts'

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
  /** What is asked of etcd in this work is part of it. */
  run<T>(work: () => T): T
  /** `error`: it failed, and why. */
  end(options?: { readonly error?: string | undefined; readonly endMs?: number }): void
}

/** Work that is a span of its own below `parent`, if the request is traced. */
export function inSpan<T>(
  parent: Span | undefined,
  name: string,
  attributes: () => SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  return parent === undefined
    ? work()
    : within(parent.child(name, { attributes: attributes() }), work)
}

/** Ends the span with the work. */
export async function within<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await span.run(work)
    span.end()
    return result
  } catch (error) {
    span.end({ error: messageOf(error) })
    throw error
  }
}
