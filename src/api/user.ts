/** Who makes a request. */
export type User = {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  /** More about the user, for authorizers and the audit log. */
  readonly extra?: { readonly [key: string]: readonly string[] }
}

/** The server itself: what its own controllers write with. */
export const systemUser: User = { name: 'system:apiserver', uid: '', groups: ['system:masters'] }

export const mastersGroup = 'system:masters'
export const authenticatedGroup = 'system:authenticated'
export const unauthenticatedGroup = 'system:unauthenticated'
export const anonymousUser: User = { name: 'system:anonymous', uid: '', groups: [unauthenticatedGroup] }

/** A bearer token that the server was configured with, and whose it is. */
export type TokenEntry = { readonly token: string; readonly user: User }
