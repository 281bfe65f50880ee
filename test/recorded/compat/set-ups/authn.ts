/**
 * Set-ups with various authenticators: front proxies with non-default headers, anonymous requests
 * for some paths, bootstrap tokens, and v1beta1 webhooks.
 */
import type { SetUps } from '../set-ups.ts'
import { hookConfig } from './access.ts'

const anonymous = (
  rest: object,
): { readonly flags: readonly string[]; readonly files: Record<string, unknown> } => ({
  flags: ['--authentication-config=${dir}/authentication.json'],
  files: {
    'authentication.json': {
      apiVersion: 'apiserver.config.k8s.io/v1beta1',
      kind: 'AuthenticationConfiguration',
      anonymous: rest,
    },
  },
})

export const setUps: SetUps = {
  'front-proxy-headers': {
    flags: [
      '--client-ca-file=${dir}/client-ca.pem',
      '--requestheader-client-ca-file=${dir}/proxy-ca.pem',
      '--requestheader-username-headers=X-Remote-User,Login',
      '--requestheader-uid-headers=X-Remote-Uid,Login-Id',
      '--requestheader-group-headers=X-Remote-Group,Team',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-,More-',
    ],
  },
  'front-proxy-alone': {
    flags: [
      '--requestheader-client-ca-file=${dir}/proxy-ca.pem',
      '--requestheader-allowed-names=one,two',
      '--requestheader-username-headers=X-Remote-User',
    ],
  },
  'certificates-without-uids': {
    flags: [
      '--client-ca-file=${dir}/client-ca.pem',
      '--feature-gates=AllowParsingUserUIDFromCertAuth=false',
    ],
  },
  'anonymous-paths': anonymous({
    enabled: true,
    conditions: [
      { path: '/livez' },
      { path: '/version/' },
      { path: '/readyz/ping' },
      { path: '' },
      { path: '/api' },
    ],
  }),
  'anonymous-everywhere': anonymous({ enabled: true }),
  'anonymous-nowhere': anonymous({ enabled: false }),
  'bootstrap-tokens': { flags: ['--enable-bootstrap-token-auth'] },
  'token-webhook-v1beta1': {
    flags: [
      '--authentication-token-webhook-config-file=${dir}/tokens.json',
      '--authentication-token-webhook-cache-ttl=0s',
    ],
    files: { 'tokens.json': hookConfig('tokens') },
    hooks: {
      tokens: () => ({
        apiVersion: 'authentication.k8s.io/v1beta1',
        kind: 'TokenReview',
        status: { authenticated: false },
      }),
    },
  },
}
