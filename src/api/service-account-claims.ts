/** The claims of a service account token: issued by TokenRequest, checked by the authenticator. */

export type ObjectClaim = { readonly name: string; readonly uid: string }

export type ServiceAccountClaims = {
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
    /** After this time the client should have replaced the token by a newer one. */
    readonly warnafter?: number
  }
  readonly nbf: number
  readonly sub: string
}

export const accountUserName = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`
