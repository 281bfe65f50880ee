/** The target of a request: a path and a query. */
import { SPACE } from '../../lib/bytes/ascii.ts'
import { ownText } from '../../lib/text/own-text.ts'

/** A parsed target. `rawPath` is absent if the path has no escapes. */
export type Target = { readonly path: string; readonly rawPath?: string; readonly query: string }

/**
 * Matches the beginning of a target that is a whole URL, as clients send it to a proxy (RFC 9112,
 * section 3.2.2).
 */
const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/** Parses a target. Returns undefined if it cannot be percent-decoded. */
export function readTarget(sent: string): Target | undefined {
  // Copies the path. A substring would keep the whole URL in memory, with a server name that can be
  // a megabyte long.
  const raw = sent.startsWith('/') ? sent : ownText(sent.replace(origin, ''))
  const mark = raw.indexOf('?')
  const query = mark === -1 ? '' : raw.slice(mark + 1)
  const sentPath = mark === -1 ? raw : raw.slice(0, mark)
  // Copies the path, so that it does not keep the query in memory. An open watch stores names from
  // the path.
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
 * Queries up to this length are parsed with `URLSearchParams`, which is faster. But for 1 MB of
 * escapes, or of pairs without `=`, it takes seconds. Queries are parsed before authentication, so
 * any client could send such a query.
 */
const SHORT_CHARACTERS = 4096

/**
 * Maximum number of pairs, as in Go's net/url since 1.24.12. A query with more pairs has no
 * parameters.
 */
const PAIRS_MAX = 10_000

/**
 * Parses a query. As in Go's server, a pair with a semicolon or an invalid escape is dropped, and
 * the other pairs are returned.
 */
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

/** Writes the decoded bytes over the input. The result is never longer than the input. */
function decode(text: string): string {
  // Returns a copy. Otherwise a selector from the query would keep the whole query in memory.
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

/**
 * Returns the value of a hexadecimal digit. Upper-case and lower-case letters have the same low
 * bits.
 */
const hexDigit = (byte: number): number => (byte & 0xf) + (byte >= LETTER_A ? 9 : 0)

const PERCENT = 0x25
const PLUS = 0x2b
const LETTER_A = 0x41
