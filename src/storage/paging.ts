/**
 * The continue token with which a client requests the next page of a list. It contains the revision
 * of the first page and the key to continue from. The key is relative to the folder, which is the
 * common prefix of all listed keys. Keelson and kube-apiserver accept each other's tokens. Clients
 * should treat tokens as opaque, but they can send any text, so a start key outside the folder is
 * rejected.
 */
import { posix } from 'node:path'
import { assert } from '../lib/errors.ts'
import type { Key, Revision } from './engine.ts'
import { keyAfter, toKey, toText } from './keys.ts'
import { type JsonType, type Member, scanJson, unquote } from './token-json.ts'

const TOKEN_VERSION = 'meta.k8s.io/v1'

/**
 * Revision in a token that continues with the latest state. A client gets such a token if the
 * revision of its list has been compacted.
 */
const REVISION_LATEST = -1

/**
 * Where a page starts. If `revision` is undefined, the page shows the latest state, which is not
 * consistent with the previous pages.
 */
export type PageStart = {
  readonly fault?: never
  readonly from: Key
  readonly revision: Revision | undefined
}

/**
 * An invalid token. `fault` is the text that follows `invalid continue token: ` in kube-apiserver's
 * message.
 */
export type TokenFault = { readonly fault: string }

/** Returns the token for the page after `last`, in a list of all keys with the prefix `folder`. */
export function encodeContinue(folder: Key, last: Key, revision: Revision | 'latest'): string {
  return encodeContinueFrom(folder, keyAfter(last), revision)
}

/**
 * Returns the token for a page that starts at the key `from`. With 'latest', this is the token that
 * is sent in the response to an expired token.
 */
export function encodeContinueFrom(folder: Key, from: Key, revision: Revision | 'latest'): string {
  assert(
    from.startsWith(folder) && from.length > folder.length,
    'a page starts within what is listed',
  )
  const start = toText(from.slice(folder.length))
  const rv = revision === 'latest' ? REVISION_LATEST : revision
  return Buffer.from(escapeLikeGo(JSON.stringify({ v: TOKEN_VERSION, rv, start }))).toString(
    'base64url',
  )
}

/** Returns where the page of a token starts. The key always has the prefix `folder`. */
export function decodeContinue(folder: Key, token: string): PageStart | TokenFault {
  const read = decodeToken(token)
  if (typeof read === 'string') return invalid(read)
  if (read.version !== TOKEN_VERSION)
    return invalid(`server does not recognize this encoded version ${read.version}`)
  if (read.revision === 0)
    return invalid(`incorrect encoded start resourceVersion (version ${TOKEN_VERSION})`)
  if (read.start === '') return invalid(`encoded start key empty (version ${TOKEN_VERSION})`)
  const path = read.start.startsWith('/') ? read.start : `/${read.start}`
  if (path !== cleanPath(path)) return invalid(read.start)
  return {
    from: folder + toKey(path.slice(1)),
    revision: read.revision < 0 ? undefined : read.revision,
  }
}

type Token = { version: string; revision: number; start: string }

/**
 * Returns the fields of the token, with zero values for absent ones. Returns an error message if
 * the token cannot be decoded.
 */
function decodeToken(token: string): Token | string {
  const bytes = decodeBase64Url(token)
  if (typeof bytes === 'number') return `illegal base64 data at input byte ${bytes}`
  const json = scanJson(bytes)
  if (json.fault !== undefined) return json.fault
  if (json.type !== 'object' && json.type !== 'null') {
    return `json: cannot unmarshal ${json.type} into Go value of type storage.continueToken`
  }
  const fields: Token = { version: '', revision: 0, start: '' }
  let firstFault: string | undefined
  for (const member of json.members) firstFault ??= readMember(fields, member)
  return firstFault ?? fields
}

/** Reads one field. As in Go, field names are not case-sensitive, and null leaves a field unset. */
function readMember(fields: Token, member: Member): string | undefined {
  if (member.type === 'null') return undefined
  switch (member.name.toLowerCase()) {
    case 'v':
      if (member.type !== 'string') return wrongType('v', 'string', member.type)
      fields.version = unquote(member.text)
      return undefined
    case 'start':
      if (member.type !== 'string') return wrongType('start', 'string', member.type)
      fields.start = unquote(member.text)
      return undefined
    case 'rv':
      if (member.type !== 'number') return wrongType('rv', 'int64', member.type)
      if (!isInt64(member.text)) return wrongType('rv', 'int64', `number ${member.text}`)
      fields.revision = Number(member.text)
      return undefined
    default:
      return undefined
  }
}

const wrongType = (field: string, type: string, got: JsonType | `number ${string}`): string =>
  `json: cannot unmarshal ${got} into Go struct field continueToken.${field} of type ${type}`

function isInt64(literal: string): boolean {
  if (!/^-?\d{1,19}$/.test(literal)) return false
  const value = BigInt(literal)
  return BigInt.asIntN(64, value) === value
}

const invalid = (what: string): TokenFault => ({ fault: `continue key is not valid: ${what}` })

/** Cleans a path like Go's path.Clean, which also removes a trailing slash. */
function cleanPath(path: string): string {
  const normal = posix.normalize(path)
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal
}

/**
 * Escapes JSON as Go does, so that it is safe inside HTML. JSON.stringify does not escape `<`, `>`,
 * `&` and two line separators.
 */
function escapeLikeGo(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/**
 * Decodes base64url without padding. Line ends are skipped, as in Go. Returns the position of the
 * first invalid byte if there is one.
 */
function decodeBase64Url(token: string): Buffer | number {
  // The characters before the first invalid one are ASCII, so its index is also a byte position.
  const position = token.search(/[^A-Za-z0-9_\-\r\n]/)
  if (position !== -1) return position
  const digits = token.replace(/[\r\n]+/g, '')
  return digits.length % 4 === 1 ? token.length - 1 : Buffer.from(digits, 'base64url')
}
