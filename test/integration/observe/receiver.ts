/**
 * A receiver of OTLP over gRPC for tests. With COLLECTOR=go it is a real collector
 * (test/clients/collector, built by `test/support/tools/install collector`). Otherwise it is a
 * small receiver in this process, which does not need Go.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { createInterface } from 'node:readline'
import { freePorts, toolPath } from '../../support/harness/etcd.ts'

/** A span as in the JSON form of OTLP, but with its attributes as an object. */
export type ReceivedSpan = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly startNs: bigint
  readonly endNs: bigint
  readonly attributes: { readonly [name: string]: string | number | boolean }
  readonly resource: { readonly [name: string]: string | number | boolean }
  readonly links: number
  readonly isError: boolean
  readonly events: readonly {
    readonly name: string
    readonly attributes: ReceivedSpan['attributes']
  }[]
}

export type Receiver = AsyncDisposable & {
  readonly endpoint: string
  readonly spans: readonly ReceivedSpan[]
}

export const startReceiver = (): Promise<Receiver> =>
  process.env['COLLECTOR'] === 'go' ? startCollector() : startOwn()

async function startCollector(): Promise<Receiver> {
  const [port = 0] = await freePorts(1)
  const endpoint = `127.0.0.1:${port}`
  const child = spawn(toolPath('collector'), [endpoint], { stdio: ['ignore', 'pipe', 'pipe'] })
  const spans: ReceivedSpan[] = []
  createInterface(child.stdout).on('line', (line) => spans.push(...readExport(JSON.parse(line))))
  await once(child.stderr, 'data')
  return {
    endpoint,
    spans,
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await once(child, 'exit')
    },
  }
}

type Value = {
  readonly stringValue?: string
  readonly intValue?: string
  readonly boolValue?: boolean
  readonly doubleValue?: number
}
type Pair = { readonly key: string; readonly value: Value }
type ExportRequest = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes?: readonly Pair[] }
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[]
  }[]
}
type ExportedSpan = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes?: readonly Pair[]
  readonly links?: readonly unknown[]
  readonly status?: { readonly code?: number }
  readonly events?: readonly { readonly name: string; readonly attributes?: readonly Pair[] }[]
}

const attributesOf = (pairs: readonly Pair[] = []): ReceivedSpan['attributes'] =>
  Object.fromEntries(
    pairs.map(({ key, value }) => {
      const { stringValue, intValue, boolValue, doubleValue } = value
      return [
        key,
        stringValue ??
          (intValue === undefined ? (boolValue ?? doubleValue ?? '') : Number(intValue)),
      ]
    }),
  )

const readExport = ({ resourceSpans }: ExportRequest): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        kind: span.kind,
        startNs: BigInt(span.startTimeUnixNano),
        endNs: BigInt(span.endTimeUnixNano),
        attributes: attributesOf(span.attributes),
        resource: attributesOf(resource.attributes),
        links: span.links?.length ?? 0,
        isError: span.status?.code === 2,
        events: (span.events ?? []).map(({ name, attributes }) => ({
          name,
          attributes: attributesOf(attributes),
        })),
      })),
    ),
  )

async function startOwn(): Promise<Receiver> {
  const spans: ReceivedSpan[] = []
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
  })
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const pieces: Buffer[] = []
    stream.on('data', (piece: Buffer) => pieces.push(piece))
    stream.on('end', () => {
      const isExport =
        headers[':path'] === '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
      if (isExport) spans.push(...decodeRequest(Buffer.concat(pieces).subarray(5)))
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc' },
        { waitForTrailers: true },
      )
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': isExport ? '0' : '12' }))
      stream.end(Buffer.alloc(5))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    endpoint: `127.0.0.1:${port}`,
    spans,
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy()
      server.close()
    },
  }
}

type Field = { readonly field: number; readonly bytes: Buffer; readonly number: bigint }

/** Returns the fields of any protobuf message, in their order. */
function* fieldsOf(message: Buffer): Generator<Field> {
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const take = (length: number): Buffer => message.subarray(at, (at += length))
  while (at < message.length) {
    const tag = Number(varint())
    const [field, type] = [tag >> 3, tag & 7]
    const empty = Buffer.alloc(0)
    if (type === 0) yield { field, bytes: empty, number: varint() }
    else if (type === 1) yield { field, bytes: empty, number: take(8).readBigUInt64LE() }
    else if (type === 5) yield { field, bytes: empty, number: BigInt(take(4).readUInt32LE()) }
    else yield { field, bytes: take(Number(varint())), number: 0n }
  }
}

const every = (message: Buffer, field: number): Field[] =>
  [...fieldsOf(message)].filter((one) => one.field === field)
const first = (message: Buffer, field: number): Field | undefined => every(message, field)[0]

function decodeAttributes(message: Buffer, field: number): ReceivedSpan['attributes'] {
  return Object.fromEntries(
    every(message, field).map(({ bytes }) => {
      const [value] = fieldsOf(first(bytes, 2)?.bytes ?? Buffer.alloc(0))
      const shown =
        value?.field === 1
          ? value.bytes.toString()
          : value?.field === 2
            ? value.number === 1n
            : Number(value?.number ?? 0)
      return [first(bytes, 1)?.bytes.toString() ?? '', shown]
    }),
  )
}

const decodeRequest = (request: Buffer): ReceivedSpan[] =>
  every(request, 1).flatMap(({ bytes: ofResource }) => {
    const resource = decodeAttributes(first(ofResource, 1)?.bytes ?? Buffer.alloc(0), 1)
    return every(ofResource, 2).flatMap(({ bytes: ofScope }) =>
      every(ofScope, 2).map(({ bytes }) => ({
        traceId: first(bytes, 1)?.bytes.toString('hex') ?? '',
        spanId: first(bytes, 2)?.bytes.toString('hex') ?? '',
        parentSpanId: first(bytes, 4)?.bytes.toString('hex') ?? '',
        name: first(bytes, 5)?.bytes.toString() ?? '',
        kind: Number(first(bytes, 6)?.number ?? 0n),
        startNs: first(bytes, 7)?.number ?? 0n,
        endNs: first(bytes, 8)?.number ?? 0n,
        attributes: decodeAttributes(bytes, 9),
        resource,
        links: every(bytes, 13).length,
        isError: first(first(bytes, 15)?.bytes ?? Buffer.alloc(0), 3)?.number === 2n,
        events: every(bytes, 11).map((event) => ({
          name: first(event.bytes, 2)?.bytes.toString() ?? '',
          attributes: decodeAttributes(event.bytes, 3),
        })),
      })),
    )
  })
