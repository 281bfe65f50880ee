/**
 * W3C Trace Context: the headers `traceparent` and `tracestate`, which pass a trace from one
 * program to the next.
 */
export type TraceContext = {
  readonly traceId: Buffer
  readonly spanId: Buffer
  readonly isSampled: boolean
  /** State of other vendors, which is passed on unchanged. Empty if it is missing. */
  readonly state: string
}

/**
 * Maximum length of tracestate. Programs may cut off more than this (section 3.3.1.5); here a
 * longer one is dropped.
 */
const STATE_CHARACTERS_MAX = 512
const SAMPLED = 0x01

/** Version 00 has these four parts. Later versions may have more at the end, and ff is invalid. */
const pattern = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Returns undefined if the header is missing or invalid. */
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
