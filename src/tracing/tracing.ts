/** Traces of requests: a span for each that is traced, below it what it passed, what answered it, and what was asked of others. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { RequestContext, RequestInfo } from '../api/context.ts'
import { type ApiRequest, type ApiResponse, firstHeader } from '../api/request.ts'
import type { Span, SpanAttributes } from '../api/span.ts'
import { mastersGroup, type User } from '../api/user.ts'
import type { TracingConfig } from '../config/files/tracing.ts'
import { messageOf } from '../lib/message-of.ts'
import type { Engine } from '../storage/engine.ts'
import { Exporter, type ExporterParts } from './exporter.ts'
import { readTraceContext } from './trace-context.ts'
import { TracedEngine } from './traced-engine.ts'
import { Tracer } from './tracer.ts'

/** Who may decide that a request is traced; the traces of others are linked to. */
const trusted: ReadonlySet<string> = new Set([mastersGroup, 'system:monitoring'])
/** Of what a client chooses: spans wait in a queue of bounded length, so each must be bounded, too. */
const CHOSEN_CHARACTERS_MAX = 1024
const CLIENT_ERROR = 400
const SERVER_ERROR = 500

export type TracedArrival = {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly caller: User
  readonly startMs: number
}

export type Handled = Pick<TracedArrival, 'request' | 'info'> & { readonly context: RequestContext }

export type Answered = {
  readonly context: RequestContext
  readonly startMs: number
  readonly response: ApiResponse
}

/** What the life of a request tells (handle.ts). */
export interface Traces {
  /** Undefined: it is not traced. */
  begin(arrival: TracedArrival): Span | undefined
  /** Runs the handler of a traced request, so that what it asks of etcd is found to be its own. */
  run<T>(span: Span, handled: Handled, work: () => Promise<T>): Promise<T>
  end(span: Span, answered: Answered): void
}

export class Tracing implements Traces, AsyncDisposable {
  readonly exporter: Exporter
  readonly #tracer: Tracer
  readonly #current = new AsyncLocalStorage<Span>()

  constructor({ endpoint, samplingRatePerMillion }: TracingConfig, parts: ExporterParts) {
    this.exporter = new Exporter(endpoint, parts)
    this.#tracer = new Tracer({ samplingRatePerMillion, clock: parts.clock, randomBytes, onEnd: this.exporter.add })
  }

  engine(engine: Engine): Engine {
    return new TracedEngine(engine, this.#current)
  }

  begin({ request, info, caller, startMs }: TracedArrival): Span | undefined {
    const { headers } = request
    return this.#tracer.begin({
      name: spanName(request, info),
      startMs,
      attributes: httpAttributes(request),
      remote: readTraceContext(firstHeader(headers, 'traceparent'), firstHeader(headers, 'tracestate')),
      isTrusted: caller.groups.some((group) => trusted.has(group)),
    })
  }

  async run<T>(span: Span, { request, info, context }: Handled, work: () => Promise<T>): Promise<T> {
    const name = info.kind === 'resource' ? handlerNames[info.verb] : undefined
    if (name === undefined || info.kind !== 'resource') return this.#current.run(span, work)
    const handler = span.child(name, { attributes: handlerAttributes(request, info, context) })
    context.span = handler
    try {
      const answered = await this.#current.run(handler, work)
      handler.end()
      return answered
    } catch (error) {
      handler.end({ error: messageOf(error) })
      throw error
    }
  }

  /** What it passed before its handler was measured anyway: the spans are made of that. */
  end(span: Span, { context: { spent }, startMs, response }: Answered): void {
    let atMs = startMs
    const passed = {
      authentication: spent.authenticationMs,
      audit: spent.auditMs,
      impersonation: spent.impersonationMs,
      priorityandfairness: spent.queueMs,
      authorization: spent.authorizationMs,
    }
    for (const [name, tookMs] of Object.entries(passed)) {
      span.child(name, { startMs: atMs }).end({ endMs: atMs + tookMs })
      atMs += tookMs
    }
    const { status } = response
    span.set({ 'http.status_code': status, ...sizeOf(response) })
    span.end({ error: status >= SERVER_ERROR ? `status ${status}` : undefined })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.exporter[Symbol.asyncDispose]()
  }
}

/** Upstream's: `GET /api/v1/namespaces/{:namespace}/pods/{:name}`; of what is no resource the method alone. */
function spanName({ method }: ApiRequest, info: RequestInfo): string {
  if (info.kind === 'path') return bounded(method)
  const { group, version, namespace, plural, name, subresource } = info
  const parts = [group === '' ? 'api' : `apis/${group}`, version]
  if (namespace !== '') parts.push('namespaces', '{:namespace}')
  parts.push(plural)
  if (name !== '') parts.push('{:name}')
  if (subresource !== '') parts.push(subresource)
  return bounded(`${method} /${parts.join('/')}`)
}

const handlerNames: { readonly [verb: string]: string } = {
  get: 'Get',
  list: 'List',
  watch: 'List',
  create: 'Create',
  update: 'Update',
  patch: 'Patch',
  delete: 'Delete',
  deletecollection: 'Delete',
}

function httpAttributes({ method, path, rawPath, rawQuery = '', headers, remoteAddress }: ApiRequest): SpanAttributes {
  const target = rawPath ?? path
  return {
    'http.method': bounded(method),
    'http.scheme': 'https',
    'http.target': bounded(rawQuery === '' ? target : `${target}?${rawQuery}`),
    'net.sock.peer.addr': remoteAddress,
    'user_agent.original': userAgentOf(headers),
  }
}

function handlerAttributes(
  { headers, path, remoteAddress }: ApiRequest,
  info: Extract<RequestInfo, { kind: 'resource' }>,
  { auditId }: RequestContext,
): SpanAttributes {
  const { group, version, name, subresource, namespace, plural, verb } = info
  return {
    accept: bounded(firstHeader(headers, 'accept') ?? ''),
    'audit-id': bounded(auditId),
    client: remoteAddress,
    'api-group': bounded(group),
    'api-version': bounded(version),
    name: bounded(name),
    subresource: bounded(subresource),
    namespace: bounded(namespace),
    resource: bounded(plural),
    scope: name !== '' || verb === 'create' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster',
    url: bounded(path),
    'user-agent': userAgentOf(headers),
    verb,
  }
}

const userAgentOf = (headers: ApiRequest['headers']): string => bounded(firstHeader(headers, 'user-agent') ?? '')

/** A copy, where it is cut: a part of a string keeps all of it in memory. */
const bounded = (text: string): string =>
  text.length <= CHOSEN_CHARACTERS_MAX ? text : Buffer.from(text.slice(0, CHOSEN_CHARACTERS_MAX)).toString()

function sizeOf(response: ApiResponse): SpanAttributes {
  if (!('body' in response) || response.status >= CLIENT_ERROR) return {}
  const { body } = response
  const length = Array.isArray(body)
    ? body.reduce((sum, { length: one }) => sum + one, 0)
    : 'length' in body
      ? body.length
      : 0
  return { 'http.response_content_length': length }
}
