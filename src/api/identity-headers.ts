/**
 * Headers in which a client names a user: the user to impersonate, or the user that a front proxy
 * has authenticated.
 */

/** Names of a front proxy's headers, in lower case. */
export type IdentityHeaders = {
  readonly username: readonly string[]
  readonly uid: readonly string[]
  readonly group: readonly string[]
  /** Prefixes of the names of headers with extra attributes. */
  readonly extraPrefixes: readonly string[]
}

/** Names of the headers that API servers use by default. */
export const standardHeaders: IdentityHeaders = {
  username: ['x-remote-user'],
  uid: ['x-remote-uid'],
  group: ['x-remote-group'],
  extraPrefixes: ['x-remote-extra-'],
}

export type IsIdentityHeader = (name: string) => boolean

/**
 * Returns a test for header names in lower case. It is true if the header names a user: an
 * impersonated user, or the user of a front proxy, in the standard headers or in those of `own`.
 * Such headers are not passed on to other servers. Their lines are not joined, because names of
 * users and groups may contain commas.
 */
export function identityHeaderTest(own?: IdentityHeaders): IsIdentityHeader {
  const all = own === undefined ? [standardHeaders] : [standardHeaders, own]
  const names = new Set(all.flatMap(({ username, uid, group }) => [...username, ...uid, ...group]))
  const prefixes = ['impersonate-', ...all.flatMap(({ extraPrefixes }) => extraPrefixes)]
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}
