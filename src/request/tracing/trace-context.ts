/**
 * W3C Trace Context: the headers `traceparent` and `tracestate`, which hand a trace on from one
 * program to the next.
 */
export type TraceContext = {
  readonly traceId: Buffer
  readonly spanId: Buffer
  readonly isSampled: boolean
  /** Of other vendors; handed on as it is. Empty: none. */
  readonly state: string
}

/** Of tracestate: more than this may be cut off (section 3.3.1.5), and is dropped here. */
const STATE_CHARACTERS_MAX = 512
const SAMPLED = 0x01

/** Version 00 has these four parts; later ones may have more behind them, and ff is none. */
const pattern = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Undefined: there is no such header, or it is not valid. */
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
