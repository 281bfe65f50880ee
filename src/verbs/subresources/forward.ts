/** A request of ours to a kubelet, a pod or a service, and its answer as one of ours. The body is never whole in memory. */
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { RequestOptions } from 'node:https'
import { type ApiRequest, elementsOf, firstHeader, type Headers } from '../../api/request.ts'
import type { KubeletAccess } from './handler.ts'

/** As upstream: to connect, TLS included. What follows takes as long as it takes. */
const CONNECT_MS_MAX = 30_000

export type Forwarded = {
  readonly url: URL
  /** Instead of that of the URL, which would be written anew. */
  readonly rawQuery?: string
  readonly method: string
  readonly headers: Headers
  readonly signal: AbortSignal
  /** Absent: nothing is shown, and nobody is asked who signed what the other side shows. */
  readonly kubelet?: KubeletAccess
}

/** Comes back with the first of the answer, to which the body may still be on its way. Fails with the error of the connection. */
export function forward(wanted: Forwarded, pipeBody?: ApiRequest['pipeBody']): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = open(wanted)
    outgoing.on('response', resolve)
    outgoing.on('error', reject)
    if (pipeBody === undefined) return void outgoing.end()
    let draining: Promise<void> | undefined
    const take = (chunk: Buffer): void | Promise<void> => {
      // Of a GET or DELETE whose length is not known Node would send it as it is, and who is behind read a second request in it.
      if (!outgoing.headersSent && !outgoing.hasHeader('content-length')) {
        outgoing.setHeader('transfer-encoding', 'chunked')
      }
      if (outgoing.write(chunk)) return undefined
      draining ??= drained(outgoing).then(() => {
        draining = undefined
      })
      return draining
    }
    pipeBody(take).then(
      () => outgoing.end(),
      (error: Error) => outgoing.destroy(error),
    )
  })
}

/** Also when nobody will take any more. */
function drained(outgoing: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done)
      resolve()
    }
    if (outgoing.destroyed) done()
    else outgoing.on('drain', done).on('close', done)
  })
}

/** The request, still to be ended. */
export function open({ url, rawQuery = '', method, headers, signal, kubelet }: Forwarded): ClientRequest {
  // Loaded when it is first needed, which for most servers is never.
  const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  const path = rawQuery === '' ? `${url.pathname}${url.search}` : `${url.pathname}?${rawQuery}`
  const outgoing = request(url, { method, path, headers: outgoingHeaders(headers), signal, ...tlsOf(kubelet) })
  outgoing.once('socket', (socket) => {
    // One that was kept open by an earlier request.
    if (!socket.connecting) return
    const timer = setTimeout(() => outgoing.destroy(new Error('i/o timeout')), CONNECT_MS_MAX)
    const events = [url.protocol === 'https:' ? 'secureConnect' : 'connect', 'close']
    for (const event of events) socket.once(event, () => clearTimeout(timer))
  })
  return outgoing
}

/** Certificates of pods are signed by whoever; those of kubelets are checked where the server knows by what. */
function tlsOf(kubelet: KubeletAccess | undefined): RequestOptions {
  const { caPem = null, client = null } = kubelet ?? {}
  return {
    rejectUnauthorized: caPem !== null,
    ...(caPem === null ? {} : { ca: caPem }),
    ...(client === null ? {} : { cert: client.certificatePem, key: client.keyPem }),
  }
}

const outgoingHeaders = (headers: Headers): OutgoingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  )

export async function* chunksOf(message: IncomingMessage): AsyncGenerator<readonly Buffer[]> {
  for await (const chunk of message) {
    if (Buffer.isBuffer(chunk)) yield [chunk]
  }
}

/** Of one connection only (RFC 9110, section 7.6.1); and `expect`, which this server has answered itself. */
const hopHeaders: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Who the client is was for this server to know. */
const isCredential = (name: string): boolean => name === 'authorization' || name.startsWith('impersonate-')

/** What browsers are allowed is for this server to say. */
const corsHeaders: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
])

/** Of a client's request, those that who is behind may see. */
export function requestHeaders({ headers, remoteAddress }: ApiRequest): Headers {
  const passed = endToEnd(headers, (name) => isCredential(name) || name === 'host' || name.startsWith(':'))
  const protocols = headers['sec-websocket-protocol']
  const way = firstHeader(headers, 'x-forwarded-for')
  return {
    ...passed,
    ...(protocols === undefined ? {} : { 'sec-websocket-protocol': withoutToken(protocols) }),
    'x-forwarded-for': way === undefined ? remoteAddress : `${way}, ${remoteAddress}`,
  }
}

/** Of an answer, those that the client may see. */
export const answerHeaders = (headers: IncomingHttpHeaders): Headers =>
  endToEnd(headers, (name) => corsHeaders.has(name))

function endToEnd(headers: IncomingHttpHeaders, isOwn: (name: string) => boolean): Headers {
  const named = new Set(tokensOf(headers.connection))
  const passed = Object.entries(headers).flatMap(([name, value]): [string, string | readonly string[]][] =>
    value === undefined || hopHeaders.has(name) || named.has(name) || isOwn(name) ? [] : [[name, value]],
  )
  return Object.fromEntries(passed)
}

/** A websocket of a browser shows its token among the protocols. */
function withoutToken(protocols: string): string {
  return elementsOf(protocols)
    .filter((protocol) => !protocol.startsWith('base64url.bearer.authorization.k8s.io.'))
    .join(', ')
}

/** What is behind the client's own path, in the words that a URL has. */
export function encodedPath(segments: readonly string[]): string {
  return segments.map((segment) => encodeURIComponent(segment)).join('/')
}

export const isUpgrade = ({ headers }: ApiRequest): boolean =>
  tokensOf(headers.connection).includes('upgrade') && headers.upgrade !== undefined

const tokensOf = (header = ''): string[] => elementsOf(header.toLowerCase())
