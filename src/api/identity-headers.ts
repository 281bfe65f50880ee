/**
 * Headers that identify a user: the user to impersonate, or the user that a front proxy has
 * authenticated.
 */

/** Names of the headers that a front proxy sets, in lower case. */
export type IdentityHeaders = {
  readonly username: readonly string[]
  readonly uid: readonly string[]
  readonly group: readonly string[]
  /** Prefixes of the header names for extra attributes. */
  readonly extraPrefixes: readonly string[]
}

/** Names of the headers that API servers use by default for a front proxy. */
export const standardHeaders: IdentityHeaders = {
  username: ['x-remote-user'],
  uid: ['x-remote-uid'],
  group: ['x-remote-group'],
  extraPrefixes: ['x-remote-extra-'],
}

export type IsIdentityHeader = (name: string) => boolean

/**
 * Returns a predicate for header names in lower case. It is true for headers that identify a user:
 * impersonation headers, the standard front proxy headers, and the headers in `own`. These headers
 * are not forwarded to other servers. Repeated headers are not joined with commas, because names of
 * users and groups can contain commas.
 */
export function identityHeaderTest(own?: IdentityHeaders): IsIdentityHeader {
  const all = own === undefined ? [standardHeaders] : [standardHeaders, own]
  const names = new Set(all.flatMap(({ username, uid, group }) => [...username, ...uid, ...group]))
  const prefixes = ['impersonate-', ...all.flatMap(({ extraPrefixes }) => extraPrefixes)]
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}
