/** Claims of a service account token, which TokenRequest issues and the authenticator checks. */

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
    /** Time by which the client should have replaced the token with a newer one. */
    readonly warnafter?: number
  }
  readonly nbf: number
  readonly sub: string
}
