/** Selects the headers that this server passes on to a backend and back to the client. */
import { identityHeaderTest } from './identity-headers.ts'
import { type ApiRequest, elementsOf, type Headers, headerValues } from './request.ts'

type ReceivedHeaders = { readonly [name: string]: string | readonly string[] | undefined }

/**
 * Hop-by-hop headers (RFC 9110, section 7.6.1), and `expect`, to which this server itself responds.
 */
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

/** Headers of the CORS policy, which is that of this server and not of the backend. */
const corsHeaders: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
])

/** Returns the headers of a client's request that are passed to the backend. */
export function requestHeaders({
  headers,
  remoteAddress,
  isIdentityHeader = identityHeaderTest(),
}: ApiRequest): Headers {
  // Credentials, and the headers of a front proxy about the user, are meant only for this server.
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

/** Returns the headers of the backend's response that are passed to the client. */
export const answerHeaders = (headers: ReceivedHeaders): Headers =>
  endToEnd(headers, (name) => corsHeaders.has(name))

function endToEnd(headers: ReceivedHeaders, isOwn: (name: string) => boolean): Headers {
  const named = new Set(tokensOf(headers['connection']))
  // A header may be named `constructor`, or `__proto__`.
  const passed: { [name: string]: string | readonly string[] } = Object.create(null)
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !hopHeaders.has(name) && !named.has(name) && !isOwn(name))
      passed[name] = value
  }
  return passed
}

/** Removes the bearer token that a browser sends for a WebSocket as a subprotocol. */
function withoutToken(protocols: string): string {
  return elementsOf(protocols)
    .filter((protocol) => !protocol.startsWith('base64url.bearer.authorization.k8s.io.'))
    .join(', ')
}

/**
 * Returns whether a request without a body may be sent again if its connection is lost before there
 * is a response. As in Go's client, the idempotency keys say that sending it twice is safe.
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
 * Returns whether the connection of a request should switch to another protocol. Requests for
 * unknown protocols are served over HTTP.
 */
export const isUpgrade = ({ headers }: Pick<ApiRequest, 'headers'>): boolean =>
  tokensOf(headers.connection).includes('upgrade') && isKnownProtocol(headers.upgrade)

/** Returns whether connections can switch to the protocol. */
export const isKnownProtocol = (protocol = ''): boolean =>
  /^(websocket|spdy\/3\.1)$/i.test(protocol)

/** Returns the lower-case tokens of a header that may consist of several lines. */
const tokensOf = (header: string | readonly string[] = ''): string[] =>
  elementsOf((typeof header === 'string' ? header : header.join(',')).toLowerCase())
