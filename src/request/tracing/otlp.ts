/**
 * Encodes spans in OTLP's protobuf format (opentelemetry-proto 1.x): trace/v1/trace.proto and
 * collector/trace/v1/trace_service.proto.
 */
import type { SpanAttributes } from '../../api/span.ts'
import { BYTES, FIXED32, FIXED64, ProtobufWriter, VARINT } from '../../lib/bytes/protobuf-writer.ts'
import type { TraceContext } from './trace-context.ts'
import type { EndedSpan, SpanKind } from './tracer.ts'

const kinds: { readonly [kind in SpanKind]: number } = { internal: 1, server: 2, client: 3 }
const ERROR = 2
/**
 * Flags of a span. Bit 0 means that the trace is sampled. Bit 8 means that bit 9 is valid, which
 * specifies whether the parent is remote.
 */
const SAMPLED_FLAGS = 0x101

/**
 * An ExportTraceServiceRequest with one resource and one scope. Spans are encoded as they end.
 * Otherwise, several garbage collections would copy each span before it is sent.
 */
export class SpanBatch {
  readonly #writer = new ProtobufWriter(BATCH_BYTES)
  count = 0

  /** Total size of the encoded spans. */
  get bytes(): number {
    return this.#writer.length
  }

  /**
   * Adds a span. The writer works from the end to the beginning, so the last span and its last
   * field are written first. If a span cannot be encoded, its partial output is removed.
   */
  add(span: EndedSpan): void {
    const writer = this.#writer
    const before = writer.length
    try {
      writeSpan(writer, span)
    } catch (error) {
      writer.rewind(before)
      throw error
    }
    writer.varint(writer.length - before)
    writer.tag(2, BYTES)
    this.count++
  }

  /** Returns the encoded request, and empties the batch. */
  take({ resource, scope }: { readonly resource: SpanAttributes; readonly scope: string }): Buffer {
    const writer = this.#writer
    writer.message(1, () => writeText(writer, 1, scope))
    writer.varint(writer.length)
    writer.tag(2, BYTES)
    writer.message(1, () => writeAttributes(writer, 1, resource))
    writer.varint(writer.length)
    writer.tag(1, BYTES)
    this.count = 0
    return writer.take()
  }
}

/** Initial size of a batch, large enough for several hundred spans. */
const BATCH_BYTES = 64 << 10

function writeSpan(writer: ProtobufWriter, span: EndedSpan): void {
  const { context, parentId, name, kind, startNs, endNs, attributes, link, error } = span
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
}

function writeLink(writer: ProtobufWriter, { traceId, spanId, state }: TraceContext): void {
  if (state !== '') writeText(writer, 3, state)
  writeBytes(writer, 2, spanId)
  writeBytes(writer, 1, traceId)
}

function writeAttributes(writer: ProtobufWriter, field: number, attributes: SpanAttributes): void {
  const keys = Object.keys(attributes)
  for (let at = keys.length - 1; at >= 0; at--) {
    const key = keys[at] ?? ''
    const end = writer.length
    writeValue(writer, attributes[key] ?? '')
    writer.varint(writer.length - end)
    writer.tag(2, BYTES)
    writeText(writer, 1, key)
    writer.varint(writer.length - end)
    writer.tag(field, BYTES)
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
  writer.raw(value)
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
