/** Forwards a request to a kubelet, a pod or a service, and returns its response. Bodies are streamed, never complete in memory. */
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { RequestOptions } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { identityHeaderTest } from '../../api/identity-headers.ts'
import { type ApiRequest, elementsOf, type Headers, headerValues } from '../../api/request.ts'
import type { Dial } from '../../lib/dial.ts'
import { hand, secured } from '../../lib/dialed-tls.ts'
import { serverTrustAnchors } from '../../lib/x509/trust-anchors.ts'
import type { KubeletAccess } from './handler.ts'

/** Time to connect, including TLS, as upstream. There is no limit for the rest. */
const CONNECT_MS_MAX = 30_000

export type Forwarded = {
  readonly url: URL
  /** Connected to in place of what the host of the URL may be resolved to by now. */
  readonly address?: string
  /** Replaces the query of the URL, which would be encoded anew. */
  readonly rawQuery?: string
  readonly method: string
  readonly headers: Headers
  readonly signal: AbortSignal
  /** Absent: no client certificate is presented, and the certificate of the backend is not verified. */
  readonly kubelet?: KubeletAccess
  /** Undefined: it is connected to straight. */
  readonly dial?: Dial | undefined
}

/** Resolves with the head of the response, while the request body may still be sent. Fails with the error of the connection. */
export function forward(wanted: Forwarded, pipeBody?: ApiRequest['pipeBody']): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = open(wanted)
    outgoing.on('response', resolve)
    outgoing.on('error', reject)
    if (pipeBody === undefined) return void outgoing.end()
    let draining: Promise<void> | undefined
    const take = (chunk: Buffer): void | Promise<void> => {
      // Node would send the body of a GET or DELETE of unknown length without framing, and the backend would parse it as a second request.
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

/** Resolves also when the connection is closed. */
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

/** Opens the request; the caller has to end it. */
export function open(wanted: Forwarded): ClientRequest {
  const { url, rawQuery = '', method, headers, signal } = wanted
  // Loaded on first use: most servers never need it.
  const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  const path = rawQuery === '' ? `${url.pathname}${url.search}` : `${url.pathname}?${rawQuery}`
  const outgoing = request(url, { method, path, headers: outgoingHeaders(headers), signal, ...connectionOf(wanted) })
  outgoing.once('socket', (socket) => {
    // A kept-alive connection of an earlier request.
    if (!socket.connecting) return
    const timer = setTimeout(() => outgoing.destroy(new Error('i/o timeout')), CONNECT_MS_MAX)
    const events = [url.protocol === 'https:' ? 'secureConnect' : 'connect', 'close']
    for (const event of events) socket.once(event, () => clearTimeout(timer))
  })
  return outgoing
}

function connectionOf({ url, address, signal, kubelet, dial }: Forwarded): RequestOptions {
  const tls = tlsOf(kubelet)
  if (dial === undefined) return { ...tls, ...(address === undefined ? {} : { lookup: always(address) }) }
  const isTls = url.protocol === 'https:'
  const name = url.hostname.replace(/^\[|\]$/g, '')
  const named = { ...tls, host: name, ...(isIP(name) === 0 ? { servername: name } : {}) }
  return {
    createConnection: (_options, created) => {
      const dialed = dial(address ?? name, Number(url.port) || (isTls ? 443 : 80), signal)
      hand(isTls ? secured(dialed, named) : dialed, created)
      return undefined
    },
  }
}

/** In place of a resolver. */
const always =
  (address: string): LookupFunction =>
  (_host, { all }, found) => {
    const family = isIP(address)
    if (all) found(null, [{ address, family }])
    else found(null, address, family)
  }

type TlsOption = 'rejectUnauthorized' | 'ca' | 'allowPartialTrustChain' | 'cert' | 'key'

/** Anybody may have signed the certificate of a pod; that of a kubelet is verified if the server has a CA for it. */
function tlsOf(kubelet: KubeletAccess | undefined): Pick<ConnectionOptions, TlsOption> {
  const { caPem = null, client = null } = kubelet ?? {}
  return {
    rejectUnauthorized: caPem !== null,
    ...(caPem === null ? {} : serverTrustAnchors(caPem)),
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

/** Hop-by-hop headers (RFC 9110, section 7.6.1), and `expect`, which this server has answered itself. */
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

/** The CORS policy is that of this server, not of the backend. */
const corsHeaders: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
])

/** The headers of a client's request that are passed to the backend. */
export function requestHeaders({
  headers,
  remoteAddress,
  isIdentityHeader = identityHeaderTest(),
}: ApiRequest): Headers {
  // Credentials, and what a front proxy says about the user, are meant for this server alone.
  const isOwn = (name: string): boolean => name === 'authorization' || isIdentityHeader(name)
  const passed = endToEnd(headers, (name) => isOwn(name) || name === 'host' || name.startsWith(':'))
  const protocols = headers['sec-websocket-protocol']
  const way = [...headerValues(headers, 'x-forwarded-for'), remoteAddress]
  return {
    ...passed,
    ...(protocols === undefined ? {} : { 'sec-websocket-protocol': withoutToken(protocols) }),
    'x-forwarded-for': way.join(', '),
  }
}

/** The headers of the backend's response that are passed to the client. */
export const answerHeaders = (headers: IncomingHttpHeaders): Headers =>
  endToEnd(headers, (name) => corsHeaders.has(name))

function endToEnd(headers: IncomingHttpHeaders, isOwn: (name: string) => boolean): Headers {
  const named = new Set(tokensOf(headers.connection))
  const passed = Object.entries(headers).flatMap(([name, value]): [string, string | readonly string[]][] =>
    value === undefined || hopHeaders.has(name) || named.has(name) || isOwn(name) ? [] : [[name, value]],
  )
  return Object.fromEntries(passed)
}

/** A browser sends its bearer token for a WebSocket as a subprotocol. */
function withoutToken(protocols: string): string {
  return elementsOf(protocols)
    .filter((protocol) => !protocol.startsWith('base64url.bearer.authorization.k8s.io.'))
    .join(', ')
}

/** The path after that of the subresource, percent-encoded. */
export function encodedPath(segments: readonly string[]): string {
  return segments.map((segment) => encodeURIComponent(segment)).join('/')
}

export const isUpgrade = ({ headers }: ApiRequest): boolean =>
  tokensOf(headers.connection).includes('upgrade') && headers.upgrade !== undefined

const tokensOf = (header = ''): string[] => elementsOf(header.toLowerCase())
