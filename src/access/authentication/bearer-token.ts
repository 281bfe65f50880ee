/**
 * Bearer tokens as clients send them: in the Authorization header, or as a WebSocket subprotocol,
 * for browsers.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { elementsOf, firstHeader, trimWhiteSpace } from '../../api/request.ts'

export type BearerTokenResult =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly token: string }
  /** Malformed: the request does not count as anonymous. */
  | { readonly kind: 'bad' }
  /** Two spaces before the token: it is ignored, with a warning to the client. */
  | { readonly kind: 'ignored'; readonly warning: string }

const none: BearerTokenResult = { kind: 'none' }
const bad: BearerTokenResult = { kind: 'bad' }

const extraSpace =
  'the provided Authorization header contains extra space before the bearer token, and is ignored'

/** Other authentication schemes count as no credentials at all. */
export function tokenInHeader(headers: IncomingHttpHeaders): BearerTokenResult {
  const header = firstHeader(headers, 'authorization')
  if (header === undefined) return none
  const [scheme = '', token = '', ...rest] = trimWhiteSpace(header).split(' ', 3)
  if (scheme.toLowerCase() !== 'bearer') return none
  if (token !== '') return { kind: 'token', token }
  return rest.length > 0 ? { kind: 'ignored', warning: extraSpace } : none
}

/**
 * The token of a TokenReview is read as if it stood in a header, as upstream: blanks end it, those
 * of Unicode, too. Undefined if that makes no token.
 */
export function reviewedToken(text: string): string | undefined {
  const found = tokenInHeader({ authorization: `Bearer ${text.trimEnd()}` })
  return found.kind === 'token' ? found.token : undefined
}

const protocolPrefix = 'base64url.bearer.authorization.k8s.io.'

/** Beside the token the client must offer a subprotocol that the server can accept. */
export function tokenInProtocols(headers: IncomingHttpHeaders): BearerTokenResult {
  if (!isWebsocket(headers)) return none
  const protocols = elementsOf(headers['sec-websocket-protocol'] ?? '')
  const encoded = protocols.filter((protocol) => protocol.startsWith(protocolPrefix))
  const [only] = encoded
  if (only === undefined) return none
  if (encoded.length > 1) return bad
  const text = only.slice(protocolPrefix.length)
  if (text === '') return none
  const token = decodeBase64Url(text)
  if (token === undefined || protocols.length === 1) return bad
  return { kind: 'token', token }
}

function isWebsocket({ connection = '', upgrade = '' }: IncomingHttpHeaders): boolean {
  return upgrade.toLowerCase() === 'websocket' && /(^|,)\s*upgrade\s*(,|$)/i.test(connection)
}

/**
 * Undefined if the text has padding or characters of another alphabet, or its bytes are not UTF-8.
 */
function decodeBase64Url(text: string): string | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined
  const bytes = Buffer.from(text, 'base64url')
  const token = bytes.toString('utf8')
  return Buffer.from(token, 'utf8').equals(bytes) ? token : undefined
}
