/**
 * Reads the method, target and headers of a request from its header fields. Rejects malformed
 * requests (RFC 9113, section 8).
 */
import type { IncomingHttpHeaders } from 'node:http'
import { COLON } from '../../lib/bytes/ascii.ts'
import type { HeaderField } from './field.ts'

export type RequestHead = {
  readonly method: string
  /** The path and the query, exactly as the client sent them. */
  readonly target: string
  /** The headers. They are frozen, because requests with the same headers share them. */
  readonly headers: IncomingHttpHeaders
  /** The value of content-length, or -1 if there is none. */
  readonly contentLength: number
}

type Pseudo = ':method' | ':scheme' | ':path' | ':authority'

const isPseudo = (name: string): name is Pseudo =>
  name === ':path' || name === ':method' || name === ':scheme' || name === ':authority'

/** Connection-specific header fields of HTTP/1.1 (RFC 9113, 8.2.2). */
const forbidden: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

/**
 * If one of these headers is repeated, only the first value is used. Other repeated headers are
 * joined, as in node:http.
 */
const single: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'max-forwards',
  'proxy-authorization',
  'range',
  'referer',
  'user-agent',
])

type Headers = {
  readonly headers: IncomingHttpHeaders
  readonly contentLength: number
  /** The host header in lower case, or the empty string if there is none. */
  readonly host: string
}

/**
 * Maximum size of cached headers. Each connection retains its cached headers until it is closed.
 */
const REMEMBERED_BYTES_MAX = 8 * 1024

/**
 * Reads the headers of the requests on one connection. The requests of a client have different
 * targets but mostly the same headers, so the last headers are cached.
 */
export class HeadReader {
  readonly #isKeptApart: (name: string) => boolean
  #lastFields: readonly HeaderField[] = []
  #last: Headers = { headers: {}, contentLength: -1, host: '' }
  #lastAuthority = ''

  /**
   * If a header is repeated, its values are joined, unless `isKeptApart` returns true for its name.
   */
  constructor(isKeptApart: (name: string) => boolean) {
    this.#isKeptApart = isKeptApart
  }

  /**
   * Reads the fields of a request. Returns undefined if the request is malformed. `bytes` is the
   * total size of the fields.
   */
  read(fields: readonly HeaderField[], bytes: number): RequestHead | undefined {
    const pseudo = { ':method': '', ':scheme': '', ':path': '', ':authority': '' }
    let at = 0
    for (; at < fields.length; at++) {
      const field = fields[at]
      if (field === undefined || field.name.charCodeAt(0) !== COLON) break
      if (!field.isValid || !isPseudo(field.name) || pseudo[field.name] !== '') return undefined
      pseudo[field.name] = field.value
    }
    const { ':method': method, ':path': target } = pseudo
    const authority = pseudo[':authority']
    if (!isWhole(method, target, pseudo[':scheme']) || !this.#isAuthority(authority))
      return undefined
    const known = this.#isLast(fields, at) ? this.#last : this.#readHeaders(fields.slice(at), bytes)
    if (known === undefined) return undefined
    // Host and :authority must be equal (RFC 9113, 8.3.1). Some code reads only one of them, and
    // would otherwise use another server name than the rest.
    if (known.host !== '' && authority !== '' && known.host !== authority.toLowerCase())
      return undefined
    return { method, target, headers: known.headers, contentLength: known.contentLength }
  }

  #isLast(fields: readonly HeaderField[], start: number): boolean {
    const last = this.#lastFields
    if (fields.length - start !== last.length) return false
    for (let at = 0; at < last.length; at++) if (!isSame(fields[start + at], last[at])) return false
    return true
  }

  #readHeaders(fields: readonly HeaderField[], bytes: number): Headers | undefined {
    if (!areFieldsValid(fields)) return undefined
    const contentLength = lengthOf(fields)
    const host = hostOf(fields)
    if (contentLength === undefined || host === undefined) return undefined
    // The headers are frozen, because requests share them.
    const headers = Object.freeze(joinFields(fields, this.#isKeptApart))
    if (bytes > REMEMBERED_BYTES_MAX) return { headers, contentLength, host }
    this.#lastFields = fields
    this.#last = { headers, contentLength, host }
    return this.#last
  }

  /**
   * Checks an authority. The last valid one is cached, because a client sends the same authority
   * with each request.
   */
  #isAuthority(authority: string): boolean {
    if (authority === this.#lastAuthority) return true
    if (!isAuthority(authority)) return false
    if (authority.length < REMEMBERED_BYTES_MAX) this.#lastAuthority = authority
    return true
  }
}

/** Whether these fields are allowed after the pseudo-header fields and as trailers. */
export function areFieldsValid(fields: readonly HeaderField[]): boolean {
  for (const { name, value, isValid } of fields) {
    if (!isValid || name.charCodeAt(0) === COLON || forbidden.has(name)) return false
    if (name === 'te' && value !== 'trailers') return false
  }
  return true
}

/** Methods that are known to be valid. For other methods, a regular expression is matched. */
const usualMethods: ReadonlySet<string> = new Set([
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
])

function isWhole(method: string, target: string, scheme: string): boolean {
  if (method === 'CONNECT') return target === '' && scheme === ''
  if (!usualMethods.has(method) && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(method)) return false
  if (scheme !== 'https' && !/^[A-Za-z][A-Za-z0-9+.-]*$/.test(scheme)) return false
  // Reject a target with a space. If a proxy forwarded the request as HTTP/1.1, the target would
  // end at the space.
  return (
    (target.startsWith('/') && !/[ \t]/.test(target)) || (method === 'OPTIONS' && target === '*')
  )
}

/** Whether all characters are allowed in an authority (RFC 3986, section 3.2). */
const isAuthority = (text: string): boolean => /^[A-Za-z0-9!$%&'()*+,\-.:;=@[\]_~]*$/.test(text)

function isSame(one: HeaderField | undefined, other: HeaderField | undefined): boolean {
  if (one === other) return true
  return (
    one !== undefined && other !== undefined && one.name === other.name && one.value === other.value
  )
}

function joinFields(
  fields: readonly HeaderField[],
  isKeptApart: (name: string) => boolean,
): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = Object.create(null)
  for (const { name, value } of fields) {
    const before = headers[name]
    if (before === undefined) headers[name] = name === 'set-cookie' ? [value] : value
    else if (typeof before === 'string' && isKeptApart(name)) headers[name] = [before, value]
    else if (Array.isArray(before)) before.push(value)
    else if (!single.has(name))
      headers[name] = `${before}${name === 'cookie' ? '; ' : ', '}${value}`
  }
  return headers
}

/**
 * Returns the value of the host header. Returns undefined if there are several host headers, or if
 * the value is invalid.
 */
function hostOf(fields: readonly HeaderField[]): string | undefined {
  let host: string | undefined
  for (const { name, value } of fields) {
    if (name !== 'host') continue
    if (host !== undefined || !isAuthority(value)) return undefined
    host = value.toLowerCase()
  }
  return host ?? ''
}

/**
 * Returns the value of the content-length header, or -1 if there is none. Returns undefined if
 * there are several, or if the value is invalid.
 */
function lengthOf(fields: readonly HeaderField[]): number | undefined {
  let length = -1
  for (const { name, value } of fields) {
    if (name !== 'content-length') continue
    if (!/^\d{1,15}$/.test(value) || length !== -1) return undefined
    length = Number(value)
  }
  return length
}
