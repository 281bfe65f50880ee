/** URLs that Go's `url.ParseRequestURI` accepts: absolute URLs, and absolute paths. */
import { quote } from '../../../api/quote.ts'
import { escapeFault, hostFault } from '../../../api/url.ts'
import { sizeOf, TEXT_FACTOR, traversal } from '../cost.ts'
import type { Library } from '../environment.ts'
import { type FunctionPart, global, type Meter, member } from '../functions.ts'
import { scaled, unknownSize } from '../ranges.ts'
import { bool, list, map, opaque, string } from '../types.ts'
import {
  ArrayList,
  CelError,
  HashMap,
  noSuchOverload,
  type Opaque,
  type Result,
  type Value,
} from '../values.ts'

type Url = {
  readonly scheme: string
  readonly host: string
  readonly path: string
  readonly query: string
  readonly rest: string
}

class UrlValue implements Opaque {
  readonly typeName = 'kubernetes.URL'
  readonly url: Url

  constructor(url: Url) {
    this.url = url
  }

  isSame(other: Opaque): boolean {
    return (
      other instanceof UrlValue &&
      other.url.scheme === this.url.scheme &&
      other.url.rest === this.url.rest
    )
  }
}

/** Parses a URL. Error messages are those of Go. */
export function parseUrl(text: string): Url | { readonly fault: () => string } {
  const refuse = (what: string): { fault: () => string } => ({
    fault: () => `parse ${quote(text)}: ${what}`,
  })
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(text)) return refuse('net/url: invalid control character in URL')
  if (text === '') return refuse('empty url')
  if (text.startsWith(':')) return refuse('missing protocol scheme')
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1] ?? ''
  const rest = scheme === '' ? text : text.slice(scheme.length + 1)
  const mark = rest.indexOf('?')
  const [before, query] = mark === -1 ? [rest, ''] : [rest.slice(0, mark), rest.slice(mark + 1)]
  const made = { scheme: scheme.toLowerCase(), query, rest }
  if (!before.startsWith('/'))
    return scheme === '' ? refuse('invalid URI for request') : { ...made, host: '', path: '' }
  const hasHost = scheme !== '' && before.startsWith('//')
  const end = hasHost ? endOfHost(before) : 0
  const path = before.slice(end)
  const authority = hasHost ? before.slice(2, end) : ''
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const fault = hostFault(host) ?? escapeFault(path)
  return fault === undefined ? { ...made, host, path } : refuse(fault)
}

function endOfHost(text: string): number {
  const slash = text.indexOf('/', 2)
  return slash === -1 ? text.length : slash
}

/** Estimated time to parse a character. */
const URL_CHARACTER_NANOS = 20
/** Estimated time to quote a character in an error message. */
const QUOTED_CHARACTER_NANOS = 75
const QUERY_CHARACTER_NANOS = 200
const PATH_CHARACTER_NANOS = 100

/** Returns the path unchanged if it is correctly encoded. Otherwise encodes it again. */
function escapedPath({ path }: Url, meter: Meter): string {
  meter.work(path.length * PATH_CHARACTER_NANOS)
  if (/^[A-Za-z0-9\-_.~!$&'()*+,;=:@/[\]%]*$/.test(path)) return path
  // The UTF-8 bytes of the path, one character per byte. A decoded escape sequence is then also one
  // character.
  const bytes = Buffer.from(path).toString('latin1')
  const plain = bytes.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Array.from(Buffer.from(plain, 'latin1'), (byte) => {
    const character = String.fromCharCode(byte)
    return /[A-Za-z0-9\-_.~$&+,/:;=@]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
}

/** Returns the host name without the port and without brackets. */
const hostname = ({ host }: Url): string =>
  /^\[(.*)\]/.exec(host)?.[1] ?? host.replace(/:[0-9]*$/, '')
const port = ({ host }: Url): string => /:([0-9]*)$/.exec(host.replace(/^\[.*\]/, ''))?.[1] ?? ''

/** Parses the query. Pairs that cannot be decoded are omitted. */
function queryOf({ query }: Url, meter: Meter): HashMap {
  meter.work(query.length * QUERY_CHARACTER_NANOS)
  const values = new Map<string, string[]>()
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const mark = pair.indexOf('=')
    const key = decode(mark === -1 ? pair : pair.slice(0, mark))
    const value = decode(mark === -1 ? '' : pair.slice(mark + 1))
    if (key === undefined || value === undefined) continue
    const known = values.get(key)
    if (known === undefined) values.set(key, [value])
    else known.push(value)
  }
  let made = new HashMap()
  for (const [key, texts] of values) made = made.with(key, new ArrayList([...texts])) ?? made
  return made
}

function decode(text: string): string | undefined {
  if (escapeFault(text) !== undefined) return undefined
  const pieces: Buffer[] = []
  for (const [, hex, plain = ''] of text
    .replaceAll('+', ' ')
    .matchAll(/((?:%[0-9A-Fa-f]{2})+)|([^%]+)/g)) {
    pieces.push(
      hex === undefined ? Buffer.from(plain) : Buffer.from(hex.replaceAll('%', ''), 'hex'),
    )
  }
  return Buffer.concat(pieces).toString()
}

const type = opaque('kubernetes.URL')
const parsing: Pick<FunctionPart, 'estimate' | 'cost'> = {
  estimate: (operands) => {
    const size = operands[0]?.size ?? unknownSize
    return { cost: scaled(size, TEXT_FACTOR), size }
  },
  cost: ([text = null]) => traversal(sizeOf(text)),
}

function read(text: Value, meter: Meter): Result {
  if (typeof text !== 'string') return noSuchOverload
  meter.work(text.length * URL_CHARACTER_NANOS)
  const url = parseUrl(text)
  if (!('fault' in url)) return new UrlValue(url)
  meter.work(text.length * QUOTED_CHARACTER_NANOS)
  return new CelError(`URL parse error during conversion from string: ${url.fault()}`)
}

const part = (
  name: string,
  run: (url: Url, meter: Meter) => Result,
  result = string,
): FunctionPart => ({
  name,
  overloads: [member(`url_${name}`, [type], result)],
  run: (value, _, __, ___, meter) =>
    value instanceof UrlValue ? run(value.url, meter) : noSuchOverload,
})

export const urlLibrary: Library = {
  functions: [
    {
      name: 'url',
      overloads: [global('string_to_url', [string], type)],
      run: (text, _, __, ___, meter) => read(text, meter),
      ...parsing,
    },
    {
      name: 'isURL',
      overloads: [global('is_url_string', [string], bool)],
      run: (text, _, __, ___, meter) => {
        if (typeof text !== 'string') return noSuchOverload
        meter.work(text.length * URL_CHARACTER_NANOS)
        return !('fault' in parseUrl(text))
      },
    },
    part('getScheme', ({ scheme }) => scheme),
    part('getHost', ({ host }) => host),
    part('getHostname', hostname),
    part('getPort', port),
    part('getEscapedPath', escapedPath),
    part('getQuery', queryOf, map(string, list(string))),
  ],
}
