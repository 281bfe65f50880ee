/** Selects the headers that this server forwards to a backend and back to the client. */
import { identityHeaderTest } from './identity-headers.ts'
import { type ApiRequest, elementsOf, type Headers, headerValues } from './request.ts'

type ReceivedHeaders = { readonly [name: string]: string | readonly string[] | undefined }

/** Hop-by-hop headers (RFC 9110, section 7.6.1), and `expect`, which this server handles itself. */
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

/** CORS headers. This server's CORS policy applies, not that of the backend. */
const corsHeaders: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
])

/** Returns the headers of a client's request that are forwarded to the backend. */
export function requestHeaders({
  headers,
  remoteAddress,
  isIdentityHeader = identityHeaderTest(),
}: ApiRequest): Headers {
  // Do not forward credentials and front proxy headers, which are intended only for this server.
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

/** Returns the headers of the backend's response that are forwarded to the client. */
export const answerHeaders = (headers: ReceivedHeaders): Headers =>
  endToEnd(headers, (name) => corsHeaders.has(name))

function endToEnd(headers: ReceivedHeaders, isOwn: (name: string) => boolean): Headers {
  const named = new Set(tokensOf(headers['connection']))
  // A header can be named `constructor` or `__proto__`, so the object has no prototype.
  const passed: { [name: string]: string | readonly string[] } = Object.create(null)
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !hopHeaders.has(name) && !named.has(name) && !isOwn(name))
      passed[name] = value
  }
  return passed
}

/**
 * Removes the bearer token from a list of WebSocket subprotocols. Browsers send the token there.
 */
function withoutToken(protocols: string): string {
  return elementsOf(protocols)
    .filter((protocol) => !protocol.startsWith('base64url.bearer.authorization.k8s.io.'))
    .join(', ')
}

/**
 * Returns whether a request without a body can be sent again if its connection is lost before a
 * response arrives. As in Go's HTTP client, this is also allowed if a header contains an
 * idempotency key, because the request can then safely be executed twice.
 */
export const isReplayable = ({
  method,
  headers,
}: {
  readonly method: string
  readonly headers: Headers
}): boolean =>
  safeMethods.has(method) ||
  headers['idempotency-key'] !== undefined ||
  headers['x-idempotency-key'] !== undefined

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/**
 * Returns whether a request asks to switch its connection to another protocol. If the protocol is
 * unknown, the request is served over HTTP.
 */
export const isUpgrade = ({ headers }: Pick<ApiRequest, 'headers'>): boolean =>
  tokensOf(headers.connection).includes('upgrade') && isKnownProtocol(headers.upgrade)

/** Returns whether the server can switch a connection to the protocol. */
export const isKnownProtocol = (protocol = ''): boolean =>
  /^(websocket|spdy\/3\.1)$/i.test(protocol)

/** Returns the tokens of a header in lower case. The header can consist of several lines. */
const tokensOf = (header: string | readonly string[] = ''): string[] =>
  elementsOf((typeof header === 'string' ? header : header.join(',')).toLowerCase())
