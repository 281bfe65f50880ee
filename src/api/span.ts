/**
 * A span of a trace: the duration of some work, and attributes that describe the work. Only traced
 * requests have spans (src/request/tracing).
 */
import { messageOf } from '../lib/errors.ts'

export type SpanAttributes = { readonly [name: string]: string | number | boolean }

export type SpanOptions = {
  /** Kind of the span. `client` means that another program is called. */
  readonly kind?: 'internal' | 'client'
  readonly attributes?: SpanAttributes
  /** Start on the monotonic clock. Defaults to now. */
  readonly startMs?: number
}

export interface Span {
  /** Headers that propagate the trace to another program, in the W3C Trace Context format. */
  readonly headers: Readonly<Record<string, string>>
  child(name: string, options?: SpanOptions): Span
  set(attributes: SpanAttributes): void
  /**
   * Runs a function as a part of the span. If the function sends etcd requests, their spans are
   * children of this span.
   */
  run<T>(work: () => T): T
  /** Ends the span. `error` is the reason why the work failed. */
  end(options?: { readonly error?: string | undefined; readonly endMs?: number }): void
}

/**
 * Runs work in a new child span of `parent`. If `parent` is undefined, the request is not traced,
 * and the work runs without a span.
 */
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

/** Runs work in a span. The span ends when the work succeeds or fails. */
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
