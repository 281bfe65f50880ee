/** Spans as OTLP's protobuf (opentelemetry-proto 1.x): trace/v1/trace.proto and collector/trace/v1/trace_service.proto. */
import type { SpanAttributes } from '../api/span.ts'
import { BYTES, FIXED32, FIXED64, ProtobufWriter, VARINT } from '../codec/protobuf/writer.ts'
import type { TraceContext } from './trace-context.ts'
import type { EndedSpan, SpanKind } from './tracer.ts'

const kinds: { readonly [kind in SpanKind]: number } = { internal: 1, server: 2, client: 3 }
const ERROR = 2
/** That the trace was sampled, and whether its parent is remote is known (bit 8). */
const SAMPLED_FLAGS = 0x101

/** One span, ready to be put into a request. The writer goes from the end to the front: the last field comes first. */
export function encodeSpan(span: EndedSpan): Buffer {
  const { context, parentId, name, kind, startNs, endNs, attributes, link, error } = span
  const writer = new ProtobufWriter(SPAN_BYTES)
  writer.fixed32(SAMPLED_FLAGS)
  writer.tag(16, FIXED32)
  if (error !== undefined) {
    writer.message(15, () => {
      writeNumber(writer, 3, ERROR)
      writeText(writer, 2, error)
    })
  }
  if (link !== undefined) writer.message(13, () => writeLink(writer, link))
  writeAttributes(writer, 9, attributes)
  writeTime(writer, 8, endNs)
  writeTime(writer, 7, startNs)
  writeNumber(writer, 6, kinds[kind])
  writeText(writer, 5, name)
  if (parentId !== undefined) writeBytes(writer, 4, parentId)
  if (context.state !== '') writeText(writer, 3, context.state)
  writeBytes(writer, 2, context.spanId)
  writeBytes(writer, 1, context.traceId)
  return writer.take()
}

/** Most spans are shorter. */
const SPAN_BYTES = 1024

/** ExportTraceServiceRequest with one resource and one scope. */
export function encodeRequest(
  spans: readonly Buffer[],
  { resource, scope }: { readonly resource: SpanAttributes; readonly scope: string },
): Buffer {
  const bytes = spans.reduce((sum, { length }) => sum + length + LENGTH_BYTES, SPAN_BYTES)
  const writer = new ProtobufWriter(bytes)
  writer.message(1, () => {
    writer.message(2, () => {
      for (const span of spans.toReversed()) writeBytes(writer, 2, span)
      writer.message(1, () => writeText(writer, 1, scope))
    })
    writer.message(1, () => writeAttributes(writer, 1, resource))
  })
  return writer.take()
}

/** What a field of a span takes besides it, at the most. */
const LENGTH_BYTES = 8

function writeLink(writer: ProtobufWriter, { traceId, spanId, state }: TraceContext): void {
  if (state !== '') writeText(writer, 3, state)
  writeBytes(writer, 2, spanId)
  writeBytes(writer, 1, traceId)
}

function writeAttributes(writer: ProtobufWriter, field: number, attributes: SpanAttributes): void {
  for (const [key, value] of Object.entries(attributes).toReversed()) {
    writer.message(field, () => {
      writer.message(2, () => writeValue(writer, value))
      writeText(writer, 1, key)
    })
  }
}

function writeValue(writer: ProtobufWriter, value: string | number | boolean): void {
  if (typeof value === 'string') writeText(writer, 1, value)
  else if (typeof value === 'boolean') writeNumber(writer, 2, value ? 1 : 0)
  else if (Number.isSafeInteger(value)) {
    writer.integer(value)
    writer.tag(3, VARINT)
  } else {
    writer.double(value)
    writer.tag(4, FIXED64)
  }
}

function writeBytes(writer: ProtobufWriter, field: number, value: Buffer): void {
  writer.bytes(value)
  writer.varint(value.length)
  writer.tag(field, BYTES)
}

function writeText(writer: ProtobufWriter, field: number, value: string): void {
  writer.varint(writer.text(value))
  writer.tag(field, BYTES)
}

function writeNumber(writer: ProtobufWriter, field: number, value: number): void {
  writer.varint(value)
  writer.tag(field, VARINT)
}

function writeTime(writer: ProtobufWriter, field: number, ns: bigint): void {
  writer.fixed64(ns)
  writer.tag(field, FIXED64)
}
