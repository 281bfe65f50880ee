/** The target of a request: a path and a query. */
import { SPACE } from '../../lib/bytes/ascii.ts'
import { ownText } from '../../lib/text/own-text.ts'

/** `rawPath`: absent if the path has no escapes. */
export type Target = { readonly path: string; readonly rawPath?: string; readonly query: string }

/**
 * The beginning of a target in absolute form, as a client of a proxy sends it (RFC 9112, section
 * 3.2.2).
 */
const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/** Undefined for a target that cannot be percent-decoded. */
export function readTarget(sent: string): Target | undefined {
  // What is kept of a path must not keep the server, whose name may have a megabyte.
  const raw = sent.startsWith('/') ? sent : ownText(sent.replace(origin, ''))
  const mark = raw.indexOf('?')
  const query = mark === -1 ? '' : raw.slice(mark + 1)
  const sentPath = mark === -1 ? raw : raw.slice(0, mark)
  // Nor the query: names are kept for as long as a watch is open.
  const path = query.length > SHORT_CHARACTERS ? ownText(sentPath) : sentPath
  if (!path.includes('%')) return { path, query }
  try {
    return { path: decodeURIComponent(path), rawPath: path, query }
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

/**
 * Longer queries are not parsed by `URLSearchParams`, which takes seconds for 1 MB of pairs without
 * `=` or of escapes, before authentication. For shorter ones it is the faster parser.
 */
const SHORT_CHARACTERS = 4096

/** As Go's net/url since 1.24.12: a query with more pairs has no parameters at all. */
const PAIRS_MAX = 10_000

/** Go's server drops a pair that has a semicolon or a bad escape in it, and keeps the others. */
export function parseQuery(query: string): URLSearchParams {
  if (query.length <= SHORT_CHARACTERS) {
    return new URLSearchParams(
      /[;%]/.test(query) ? query.split('&').filter(isTaken).join('&') : query,
    )
  }
  const pairs = query.split('&', PAIRS_MAX + 1)
  return new URLSearchParams(pairs.length > PAIRS_MAX ? [] : pairs.filter(isTaken).map(decodePair))
}

const isTaken = (pair: string): boolean =>
  pair !== '' && !pair.includes(';') && !/%(?![0-9a-fA-F]{2})/.test(pair)

function decodePair(pair: string): [string, string] {
  const mark = pair.indexOf('=')
  return mark === -1
    ? [decode(pair), '']
    : [decode(pair.slice(0, mark)), decode(pair.slice(mark + 1))]
}

/** Decodes in place: the result is never longer. */
function decode(text: string): string {
  // A selector must not keep the query that it is a part of.
  if (!/[%+]/.test(text)) return ownText(text)
  const bytes = Buffer.from(text)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === PERCENT) {
      bytes[length++] = (hexDigit(bytes[at + 1] ?? 0) << 4) | hexDigit(bytes[at + 2] ?? 0)
      at += 2
    } else bytes[length++] = byte === PLUS ? SPACE : byte
  }
  return bytes.toString('utf8', 0, length)
}

/** The value of a hexadecimal digit: upper and lower case letters have the same low bits. */
const hexDigit = (byte: number): number => (byte & 0xf) + (byte >= LETTER_A ? 9 : 0)

const PERCENT = 0x25
const PLUS = 0x2b
const LETTER_A = 0x41
