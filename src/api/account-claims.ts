/** What a token says of the service account that it is for: issued by one part of the server, believed by another. */

export type ObjectClaim = { readonly name: string; readonly uid: string }

export type AccountClaims = {
  readonly aud: readonly string[]
  /** Seconds since 1970, as all times here. */
  readonly exp: number
  readonly iat: number
  readonly iss: string
  readonly jti: string
  readonly 'kubernetes.io': {
    readonly namespace: string
    readonly node?: ObjectClaim | { readonly name: string }
    readonly pod?: ObjectClaim
    readonly secret?: ObjectClaim
    readonly serviceaccount: ObjectClaim
    /** From then on its bearer should have got a newer one. */
    readonly warnafter?: number
  }
  readonly nbf: number
  readonly sub: string
}

export const accountUserName = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`
