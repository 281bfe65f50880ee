/**
 * Headers in which a client names a user: one that it impersonates, or one that a front proxy has
 * authenticated.
 */

/** Names of headers of a front proxy, in lower case. */
export type IdentityHeaders = {
  readonly username: readonly string[]
  readonly uid: readonly string[]
  readonly group: readonly string[]
  /** What the names of headers with extra attributes begin with. */
  readonly extraPrefixes: readonly string[]
}

/** The headers that API servers agree on. */
export const standardHeaders: IdentityHeaders = {
  username: ['x-remote-user'],
  uid: ['x-remote-uid'],
  group: ['x-remote-group'],
  extraPrefixes: ['x-remote-extra-'],
}

export type IsIdentityHeader = (name: string) => boolean

/**
 * Whether a header, in lower case, names a user: an impersonated one, or for front proxies with the
 * standard headers or with `own`. Such headers are not passed on to other servers, and their lines
 * are not joined, since names of users and groups may contain commas.
 */
export function identityHeaderTest(own?: IdentityHeaders): IsIdentityHeader {
  const all = own === undefined ? [standardHeaders] : [standardHeaders, own]
  const names = new Set(all.flatMap(({ username, uid, group }) => [...username, ...uid, ...group]))
  const prefixes = ['impersonate-', ...all.flatMap(({ extraPrefixes }) => extraPrefixes)]
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}
