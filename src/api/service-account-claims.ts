/**
 * Claims of service account tokens. TokenRequests issue these tokens, and the authenticator
 * verifies them.
 */

export type ObjectClaim = { readonly name: string; readonly uid: string }

export type ServiceAccountClaims = {
  readonly aud: readonly string[]
  /** Expiry in seconds since 1970. All times in the claims have this unit. */
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
    /** Time after which the client should no longer use this token, but a newer one. */
    readonly warnafter?: number
  }
  readonly nbf: number
  readonly sub: string
}
