/**
 * Signing algorithms that JWT authenticators support: the asymmetric algorithms of RFC 7518,
 * section 3.1.
 */
export const signingAlgorithms: readonly string[] = [
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
]
