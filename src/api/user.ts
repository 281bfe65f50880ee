/** The user that makes a request. */
export type User = {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  /** Additional attributes, for authorizers and the audit log. */
  readonly extra?: { readonly [key: string]: readonly string[] }
}

/** The server itself: the user of its own controllers. Webhooks and audit events see it, with the groups in this order. */
export const systemUser: User = {
  name: 'system:apiserver',
  uid: '',
  groups: ['system:authenticated', 'system:masters'],
}

export const mastersGroup = 'system:masters'
export const authenticatedGroup = 'system:authenticated'
export const unauthenticatedGroup = 'system:unauthenticated'
export const anonymousUser: User = { name: 'system:anonymous', uid: '', groups: [unauthenticatedGroup] }

/**
 * The groups in the order of their first occurrence, without repetitions. Every part that builds a User from data of others calls it, so
 * that a group that is repeated thousands of times costs no more than one.
 */
export function distinctGroups(groups: readonly string[]): readonly string[] {
  if (groups.length < 2) return groups
  const distinct = new Set(groups)
  return distinct.size === groups.length ? groups : [...distinct]
}

/** A static bearer token and its user. */
export type TokenEntry = { readonly token: string; readonly user: User }
