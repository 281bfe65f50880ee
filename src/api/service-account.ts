/** The user names and groups of service accounts. */

export type ServiceAccountRef = { readonly namespace: string; readonly name: string }

export const accountUserName = ({ namespace, name }: ServiceAccountRef): string =>
  `system:serviceaccount:${namespace}:${name}`

/** Returns the groups of all service accounts in a namespace. */
export const accountGroups = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
]

const userName = /^system:serviceaccount:([^:]+):([^:]+)$/

/**
 * Returns the namespace and name in the user name of a service account. Returns undefined for any
 * other user.
 */
export function parseAccountUserName(user: string): ServiceAccountRef | undefined {
  const [, namespace, name] = userName.exec(user) ?? []
  return namespace === undefined || name === undefined ? undefined : { namespace, name }
}
