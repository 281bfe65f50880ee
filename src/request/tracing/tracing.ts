/**
 * Traces requests. A traced request has a span, with child spans for the stages that it passed, for
 * its handler, and for its calls to other servers.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomFillSync } from 'node:crypto'
import type { RequestContext, RequestInfo } from '../../api/context.ts'
import { type ApiRequest, type ApiResponse, firstHeader } from '../../api/request.ts'
import { type Span, type SpanAttributes, within } from '../../api/span.ts'
import { mastersGroup, type User } from '../../api/user.ts'
import type { TracingConfig } from '../../config/files/tracing.ts'
import type { Engine, Key } from '../../storage/engine.ts'
import { Exporter, type ExporterOptions } from './exporter.ts'
import { readTraceContext } from './trace-context.ts'
import { TracedEngine } from './traced-engine.ts'
import { Tracer } from './tracer.ts'

/**
 * Groups whose members can request with a trace context that their requests are traced. If another
 * client sends a trace context, the span of its request only has a link to that trace.
 */
const trusted: ReadonlySet<string> = new Set([mastersGroup, 'system:monitoring'])
const CLIENT_ERROR = 400
/**
 * Minimum duration of a stage that gets a span. The span of a shorter stage would be of little use,
 * but would cost as much as any other span.
 */
const SHOWN_MS_MIN = 1
const SERVER_ERROR = 500

export type TracedRequest = {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly caller: User
  readonly startMs: number
}

export type Handled = Pick<TracedRequest, 'request' | 'info'> & { readonly context: RequestContext }

export type AnsweredRequest = {
  readonly context: RequestContext
  readonly startMs: number
  readonly response: ApiResponse
}

/** The functions with which the stages of the pipeline trace requests. */
export interface Traces {
  /** Begins the span of a request. Returns undefined if the request is not traced. */
  begin(arrival: TracedRequest): Span | undefined
  /** Runs the handler of a traced request, so that its etcd calls belong to the span. */
  run<T>(span: Span, handled: Handled, work: () => Promise<T>): Promise<T>
  end(span: Span, answered: AnsweredRequest): void
}

export class Tracing implements Traces, AsyncDisposable {
  readonly exporter: Exporter
  readonly #tracer: Tracer
  readonly #current = new AsyncLocalStorage<Span>()

  constructor({ endpoint, samplingRatePerMillion }: TracingConfig, options: ExporterOptions) {
    this.exporter = new Exporter(endpoint, options)
    this.#tracer = new Tracer({
      samplingRatePerMillion,
      clock: options.clock,
      fillRandom: (bytes) => void randomFillSync(bytes),
      onEnd: this.exporter.add,
      run: (span, work) => this.#current.run(span, work),
    })
  }

  /** Returns an engine whose calls are traced. `root` is the prefix of all keys. */
  engine(engine: Engine, root: Key): Engine {
    return new TracedEngine(engine, { current: this.#current, root })
  }

  begin({ request, info, caller, startMs }: TracedRequest): Span | undefined {
    const { headers } = request
    const parent = firstHeader(headers, 'traceparent')
    const remote =
      parent === undefined
        ? undefined
        : readTraceContext(parent, firstHeader(headers, 'tracestate'))
    const isTrusted = remote !== undefined && caller.groups.some((group) => trusted.has(group))
    return this.#tracer.begin({ remote, isTrusted }, () => ({
      name: spanName(request, info),
      startMs,
      attributes: httpAttributes(request),
    }))
  }

  run<T>(span: Span, { request, info, context }: Handled, work: () => Promise<T>): Promise<T> {
    const handler = info.kind === 'resource' ? handlers[info.verb] : undefined
    if (handler === undefined || info.kind !== 'resource') return span.run(work)
    const [name, verb] = handler
    const attributes = handlerAttributes(request, info, {
      auditId: context.auditId,
      verb: shownVerb(request, verb),
    })
    const child = span.child(name, { attributes })
    context.span = child
    return within(child, work)
  }

  /**
   * Ends the span of a request. The stages before the handler are measured in any case, so their
   * spans are derived from these measurements. Unlike in kube-apiserver, every stage that took long
   * has a span, not only authentication.
   */
  end(span: Span, { context: { spent }, startMs, response }: AnsweredRequest): void {
    let atMs = startMs
    const passed: readonly (readonly [name: string, tookMs: number])[] = [
      ['authentication', spent.authenticationMs],
      ['audit', spent.auditMs],
      ['impersonation', spent.impersonationMs],
      ['priorityandfairness', spent.queueMs],
      ['authorization', spent.authorizationMs],
    ]
    for (const [name, tookMs] of passed) {
      if (name === 'authentication' || tookMs >= SHOWN_MS_MIN) {
        span.child(name, { startMs: atMs }).end({ endMs: atMs + tookMs })
      }
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

/**
 * Returns the name of a span as in kube-apiserver: `GET
 * /api/v1/namespaces/{:namespace}/pods/{:name}`, or only the method for a path that is not a
 * resource.
 */
function spanName({ method }: ApiRequest, info: RequestInfo): string {
  if (info.kind === 'path') return method
  const { group, version, namespace, plural, name, subresource } = info
  const parts = [group === '' ? 'api' : `apis/${group}`, version]
  if (namespace !== '') parts.push('namespaces', '{:namespace}')
  parts.push(plural)
  if (name !== '') parts.push('{:name}')
  if (subresource !== '') parts.push(subresource)
  return `${method} /${parts.join('/')}`
}

/**
 * Handler and verb names that kube-apiserver uses in spans. Watches are not listed, because their
 * spans would last as long as the request.
 */
const handlers: { readonly [verb: string]: readonly [name: string, verb: string] } = {
  get: ['Get', 'GET'],
  list: ['List', 'LIST'],
  create: ['Create', 'POST'],
  update: ['Update', 'PUT'],
  patch: ['Patch', 'PATCH'],
  delete: ['Delete', 'DELETE'],
  deletecollection: ['Delete', 'DELETE'],
}

const shownVerb = ({ headers }: ApiRequest, verb: string): string =>
  verb === 'PATCH' &&
  firstHeader(headers, 'content-type')?.startsWith('application/apply-patch') === true
    ? 'APPLY'
    : verb

/**
 * Returns the HTTP attributes of a span. Unlike in kube-apiserver, they do not contain the query,
 * because it can contain secrets, for example in the command of an exec.
 */
function httpAttributes(request: ApiRequest): SpanAttributes {
  const { method, path, rawPath, headers, remoteAddress, remotePort = 0, protocol } = request
  const [, host = '', port = ''] =
    /^(.*?)(?::(\d{1,5}))?$/s.exec(firstHeader(headers, 'host') ?? '') ?? []
  return {
    'http.method': method,
    'http.scheme': 'https',
    'http.target': rawPath ?? path,
    'net.host.name': host,
    ...(port === '' ? {} : { 'net.host.port': Number(port) }),
    'net.protocol.version': versionOf(protocol),
    'net.sock.peer.addr': remoteAddress,
    'net.sock.peer.port': remotePort,
    'user_agent.original': userAgentOf(headers),
  }
}

const versionOf = (protocol: ApiRequest['protocol'] = 'HTTP/1.1'): string =>
  protocol.slice('HTTP/'.length)

function handlerAttributes(
  { headers, path, remoteAddress, protocol = 'HTTP/1.1' }: ApiRequest,
  info: Extract<RequestInfo, { kind: 'resource' }>,
  { auditId, verb }: { readonly auditId: string; readonly verb: string },
): SpanAttributes {
  const { group, version, name, subresource, namespace, plural } = info
  return {
    accept: firstHeader(headers, 'accept') ?? '',
    'audit-id': auditId,
    client: remoteAddress,
    'api-group': group,
    'api-version': version,
    name,
    subresource,
    namespace,
    protocol,
    resource: plural,
    scope:
      name !== '' || info.verb === 'create'
        ? 'resource'
        : namespace !== ''
          ? 'namespace'
          : 'cluster',
    url: path,
    'user-agent': userAgentOf(headers),
    verb,
  }
}

const userAgentOf = (headers: ApiRequest['headers']): string =>
  firstHeader(headers, 'user-agent') ?? ''

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
