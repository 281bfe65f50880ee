/** The user that makes a request. */
export type User = {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  /** Additional attributes, for authorizers and the audit log. */
  readonly extra?: { readonly [key: string]: readonly string[] }
}

/**
 * The user that the server's own controllers act as. The order of the groups is visible in webhook
 * requests and audit events.
 */
export const systemUser: User = {
  name: 'system:apiserver',
  uid: '',
  groups: ['system:authenticated', 'system:masters'],
}

export const mastersGroup = 'system:masters'
export const authenticatedGroup = 'system:authenticated'
export const unauthenticatedGroup = 'system:unauthenticated'
export const anonymousUser: User = {
  name: 'system:anonymous',
  uid: '',
  groups: [unauthenticatedGroup],
}

/** A static bearer token and its user. */
export type TokenEntry = { readonly token: string; readonly user: User }
