/**
 * Set-ups with a single authorization mode each, a set-up without anonymous requests, and a set-up
 * with all authenticators.
 */
import type { SetUps } from '../set-ups.ts'
import { hookConfig, issuerOne, unknownToken } from './access.ts'

const modes = (
  list: string,
): { readonly omit: readonly string[]; readonly flags: readonly string[] } => ({
  omit: ['authorization-mode'],
  flags: [`--authorization-mode=${list}`],
})

export const setUps: SetUps = {
  'always-allow': modes('AlwaysAllow'),
  'always-deny': modes('AlwaysDeny'),
  'rbac-then-deny': modes('RBAC,AlwaysDeny'),
  'deny-then-rbac': modes('AlwaysDeny,RBAC'),
  'rbac-then-allow': modes('RBAC,AlwaysAllow'),
  'rbac-alone': modes('RBAC'),
  'no-anonymous': { flags: ['--anonymous-auth=false'] },
  'every-authenticator': {
    flags: [
      '--client-ca-file=${dir}/client-ca.pem',
      '--requestheader-client-ca-file=${dir}/proxy-ca.pem',
      '--requestheader-allowed-names=front-proxy',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-uid-headers=X-Remote-Uid',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      '--enable-bootstrap-token-auth',
      '--authentication-config=${dir}/authentication.json',
      '--authentication-token-webhook-config-file=${dir}/tokens.json',
      '--authentication-token-webhook-version=v1',
      '--audit-policy-file=${dir}/policy.json',
      '--audit-log-path=${dir}/audit.log',
    ],
    issuers: { one: {} },
    files: {
      'authentication.json': {
        apiVersion: 'apiserver.config.k8s.io/v1beta1',
        kind: 'AuthenticationConfiguration',
        jwt: [issuerOne],
      },
      'tokens.json': hookConfig('tokens'),
      'policy.json': {
        apiVersion: 'audit.k8s.io/v1',
        kind: 'Policy',
        omitStages: ['RequestReceived'],
        rules: [{ level: 'Metadata' }],
      },
    },
    hooks: { tokens: unknownToken },
  },
}
