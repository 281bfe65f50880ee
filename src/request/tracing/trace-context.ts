/**
 * W3C Trace Context: the headers `traceparent` and `tracestate`, which propagate a trace from one
 * program to the next.
 */
export type TraceContext = {
  readonly traceId: Buffer
  readonly spanId: Buffer
  readonly isSampled: boolean
  /** Vendor-specific state of the trace, which is propagated unchanged. Empty if it is absent. */
  readonly state: string
}

/**
 * Maximum length of tracestate. The standard allows programs to truncate longer values (section
 * 3.3.1.5). This server drops them.
 */
const STATE_CHARACTERS_MAX = 512
const SAMPLED = 0x01

/**
 * Version 00 has exactly these four parts. Later versions can have additional parts at the end.
 * Version ff is invalid.
 */
const pattern = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * Parses the headers `traceparent` and `tracestate`. Returns undefined if `traceparent` is absent
 * or invalid.
 */
export function readTraceContext(
  parent: string | undefined,
  state: string | undefined,
): TraceContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] =
    pattern.exec(parent?.trim() ?? '') ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return {
    traceId: Buffer.from(traceId, 'hex'),
    spanId: Buffer.from(spanId, 'hex'),
    isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0,
    state: state === undefined || state.length > STATE_CHARACTERS_MAX ? '' : state,
  }
}

export function printTraceContext({
  traceId,
  spanId,
  isSampled,
  state,
}: TraceContext): Readonly<Record<string, string>> {
  const traceparent = `00-${traceId.toString('hex')}-${spanId.toString('hex')}-${isSampled ? '01' : '00'}`
  return state === '' ? { traceparent } : { traceparent, tracestate: state }
}
