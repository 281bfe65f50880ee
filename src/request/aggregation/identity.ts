/**
 * Headers that identify the user of a request to a remote server. The remote server trusts these
 * headers because this server presents a client certificate.
 */
import type { Headers } from '../../api/request.ts'
import type { User } from '../../api/user.ts'

/**
 * Returns the headers. `hasUid` is the RemoteRequestHeaderUID feature gate. Fails if a header
 * cannot represent the user's name exactly, because the remote server would see a different user.
 */
export function identityHeaders(
  { name, uid, groups, extra = {} }: User,
  { hasUid }: { readonly hasUid: boolean },
): Headers {
  const headers: { [name: string]: string | readonly string[] } = {
    'x-remote-user': written('X-Remote-User', name),
  }
  if (hasUid && uid !== '') headers['x-remote-uid'] = written('X-Remote-Uid', uid)
  if (groups.length > 0)
    headers['x-remote-group'] = groups.map((group) => written('X-Remote-Group', group))
  for (const key in extra) {
    const header = `x-remote-extra-${escapeKey(key)}`
    headers[header] = (extra[key] ?? []).map((value) => written(header, value))
  }
  return headers
}

/**
 * Converts a header value so that Node sends its UTF-8 bytes, which servers expect. Node itself
 * writes headers as Latin-1.
 */
function written(header: string, value: string): string {
  // oxlint-disable-next-line no-control-regex -- the pattern must match control characters
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value))
    throw new Error(`net/http: invalid header field value for "${header}"`)
  // oxlint-disable-next-line no-control-regex -- the pattern must match every ASCII character
  return /^[\x00-\x7f]*$/.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1')
}

/**
 * Percent-encodes the percent sign, and bytes that are not allowed in header names. Header names
 * are case-insensitive, so the result is in lower case.
 */
const escapeKey = (key: string): string =>
  Array.from(Buffer.from(key, 'utf8'), (byte) => {
    const letter = String.fromCharCode(byte)
    return isToken.test(letter) ? letter : `%${byte.toString(16).padStart(2, '0')}`
  })
    .join('')
    .toLowerCase()

const isToken = /[!#$&'*+\-.^_`|~0-9A-Za-z]/
