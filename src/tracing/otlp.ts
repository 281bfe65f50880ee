/** Spans as OTLP's protobuf (opentelemetry-proto 1.x): trace/v1/trace.proto and collector/trace/v1/trace_service.proto. */
import type { SpanAttributes } from '../api/span.ts'
import type { TraceContext } from './trace-context.ts'
import type { EndedSpan, SpanEvent, SpanKind } from './tracer.ts'

const kinds: { readonly [kind in SpanKind]: number } = { internal: 1, server: 2, client: 3 }
const ERROR = 2
/** That the trace was sampled, and whether its parent is remote is known (bit 8). */
const SAMPLED_FLAGS = 0x101

/** One span, ready to be put into a request. */
export function encodeSpan(span: EndedSpan): Buffer {
  const { context, parentId, name, kind, startNs, endNs, attributes, events, link, error } = span
  const parts: Buffer[] = [bytesField(1, context.traceId), bytesField(2, context.spanId)]
  if (context.state !== '') parts.push(textField(3, context.state))
  if (parentId !== undefined) parts.push(bytesField(4, parentId))
  parts.push(textField(5, name), numberField(6, kinds[kind]), fixed64Field(7, startNs), fixed64Field(8, endNs))
  for (const attribute of encodeAttributes(attributes)) parts.push(bytesField(9, attribute))
  for (const event of events) parts.push(bytesField(11, encodeEvent(event)))
  if (link !== undefined) parts.push(bytesField(13, encodeLink(link)))
  if (error !== undefined) parts.push(bytesField(15, Buffer.concat([textField(2, error), numberField(3, ERROR)])))
  parts.push(fixed32Field(16, SAMPLED_FLAGS))
  return Buffer.concat(parts)
}

/** ExportTraceServiceRequest with one resource and one scope. */
export function encodeRequest(
  spans: readonly Buffer[],
  { resource, scope }: { readonly resource: SpanAttributes; readonly scope: string },
): Buffer {
  const described = Buffer.concat(encodeAttributes(resource).map((attribute) => bytesField(1, attribute)))
  const scopeSpans = Buffer.concat([
    bytesField(1, textField(1, scope)),
    ...spans.flatMap((span) => [head(2, span.length), span]),
  ])
  return bytesField(1, Buffer.concat([bytesField(1, described), bytesField(2, scopeSpans)]))
}

function encodeEvent({ name, atNs, attributes }: SpanEvent): Buffer {
  const pairs = encodeAttributes(attributes).map((attribute) => bytesField(3, attribute))
  return Buffer.concat([fixed64Field(1, atNs), textField(2, name), ...pairs])
}

function encodeLink({ traceId, spanId, state }: TraceContext): Buffer {
  const shown = state === '' ? [] : [textField(3, state)]
  return Buffer.concat([bytesField(1, traceId), bytesField(2, spanId), ...shown])
}

const encodeAttributes = (attributes: SpanAttributes): Buffer[] =>
  Object.entries(attributes).map(([key, value]) =>
    Buffer.concat([textField(1, key), bytesField(2, encodeValue(value))]),
  )

function encodeValue(value: string | number | boolean): Buffer {
  if (typeof value === 'string') return textField(1, value)
  if (typeof value === 'boolean') return Buffer.concat([head(2, value ? 1 : 0, VARINT)])
  if (Number.isSafeInteger(value) && value >= 0) return head(3, value, VARINT)
  const double = Buffer.alloc(9)
  double[0] = (4 << 3) | FIXED64
  double.writeDoubleLE(value, 1)
  return double
}

const VARINT = 0
const FIXED64 = 1
const LENGTH = 2
const FIXED32 = 5

/** The tag of a field and a varint: its length, or its value. */
function head(field: number, value: number, type: number = LENGTH): Buffer {
  const bytes: number[] = []
  for (const number of [field * 8 + type, value]) {
    let left = number
    while (left > 0x7f) {
      bytes.push((left % 0x80) + 0x80)
      left = Math.floor(left / 0x80)
    }
    bytes.push(left)
  }
  return Buffer.from(bytes)
}

const bytesField = (field: number, value: Buffer): Buffer => Buffer.concat([head(field, value.length), value])
const textField = (field: number, value: string): Buffer => bytesField(field, Buffer.from(value))
const numberField = (field: number, value: number): Buffer => head(field, value, VARINT)

function fixed64Field(field: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(9)
  bytes[0] = field * 8 + FIXED64
  bytes.writeBigUInt64LE(value, 1)
  return bytes
}

function fixed32Field(field: number, value: number): Buffer {
  const tag = head(field, 0, FIXED32).subarray(0, -1)
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return Buffer.concat([tag, bytes])
}
