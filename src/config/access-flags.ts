/**
 * The authentication and authorization flags, with upstream's defaults, for `readAuthentication` and `readAuthorization`. `keelson serve`
 * rejects those that are not implemented yet (unsupported-flags.ts); a row moves to flags.ts when its feature is.
 */
export const accessFlags = {
  'anonymous-auth': { default: 'true' },
  'authentication-config': {},
  'authentication-token-webhook-cache-ttl': { default: '2m0s' },
  'authentication-token-webhook-config-file': {},
  'authentication-token-webhook-version': { default: 'v1beta1' },
  'authorization-config': {},
  'authorization-mode': {},
  'authorization-policy-file': {},
  'authorization-webhook-cache-authorized-ttl': { default: '5m0s' },
  'authorization-webhook-cache-unauthorized-ttl': { default: '30s' },
  'authorization-webhook-config-file': {},
  'authorization-webhook-version': { default: 'v1beta1' },
  'enable-bootstrap-token-auth': { default: 'false' },
  'oidc-ca-file': {},
  'oidc-client-id': {},
  'oidc-groups-claim': {},
  'oidc-groups-prefix': {},
  'oidc-issuer-url': {},
  'oidc-required-claim': {},
  'oidc-signing-algs': { default: 'RS256' },
  'oidc-username-claim': { default: 'sub' },
  'oidc-username-prefix': {},
  'requestheader-allowed-names': {},
  'requestheader-client-ca-file': {},
  'requestheader-extra-headers-prefix': {},
  'requestheader-group-headers': {},
  'requestheader-uid-headers': {},
  'requestheader-username-headers': {},
  'service-account-issuer': {},
  'service-account-lookup': { default: 'true' },
} as const satisfies { readonly [name: string]: { readonly default?: string } }

export type AccessFlagName = keyof typeof accessFlags
