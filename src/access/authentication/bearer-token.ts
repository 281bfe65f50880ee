/**
 * Reads bearer tokens from requests: from the Authorization header, or from a WebSocket
 * subprotocol, which browsers use because they cannot set that header.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { elementsOf, firstHeader, trimWhiteSpace } from '../../api/request.ts'

export type BearerTokenResult =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly token: string }
  /** The header or subprotocol is malformed, so the request must not be treated as anonymous. */
  | { readonly kind: 'bad' }
  /** Two spaces precede the token. The token is ignored, and the response has a warning. */
  | { readonly kind: 'ignored'; readonly warning: string }

const none: BearerTokenResult = { kind: 'none' }
const bad: BearerTokenResult = { kind: 'bad' }

const extraSpace =
  'the provided Authorization header contains extra space before the bearer token, and is ignored'

/**
 * Reads the token from the Authorization header. A header with another authentication scheme is
 * treated as if it were absent.
 */
export function tokenInHeader(headers: IncomingHttpHeaders): BearerTokenResult {
  const header = firstHeader(headers, 'authorization')
  if (header === undefined) return none
  const [scheme = '', token = '', ...rest] = trimWhiteSpace(header).split(' ', 3)
  if (scheme.toLowerCase() !== 'bearer') return none
  if (token !== '') return { kind: 'token', token }
  return rest.length > 0 ? { kind: 'ignored', warning: extraSpace } : none
}

/**
 * Reads the token of a TokenReview as if it were in an Authorization header, as kube-apiserver
 * does. The token ends at the first whitespace character, including Unicode whitespace. Returns
 * undefined if the token is empty.
 */
export function reviewedToken(text: string): string | undefined {
  const found = tokenInHeader({ authorization: `Bearer ${text.trimEnd()}` })
  return found.kind === 'token' ? found.token : undefined
}

const protocolPrefix = 'base64url.bearer.authorization.k8s.io.'

/**
 * Reads the token that a client offers as a WebSocket subprotocol. The client must also offer a
 * subprotocol that the server can accept.
 */
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
 * Decodes unpadded base64url. Returns undefined if the string has padding or characters of another
 * alphabet, or if the decoded bytes are not UTF-8.
 */
function decodeBase64Url(text: string): string | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined
  const bytes = Buffer.from(text, 'base64url')
  const token = bytes.toString('utf8')
  return Buffer.from(token, 'utf8').equals(bytes) ? token : undefined
}
