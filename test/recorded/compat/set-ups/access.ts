/**
 * Authenticators and authorizers that the usual flags do not enable. Also defines the audiences,
 * users and groups of the access-* scenarios.
 */
import type { SetUps } from '../set-ups.ts'

/** Returns a kubeconfig with a token for calls to a webhook of the runner. */
export const hookConfig = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [
    {
      name: 'hook',
      cluster: { server: `\${hook.${name}}`, 'certificate-authority': '${dir}/hook-ca.pem' },
    },
  ],
  users: [{ name: 'server', user: { token: 'token-of-the-server' } }],
  contexts: [{ name: 'hook', context: { cluster: 'hook', user: 'server' } }],
  'current-context': 'hook',
})

/** Response of a TokenReview webhook to calls that do not belong to a scenario. */
export const unknownToken = (): object => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  status: { authenticated: false },
})
const noOpinion = (): object => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  status: { allowed: false },
})

/** Authenticator that uses the claim `sub` as the user name, and adds a prefix to groups. */
export const issuerOne = {
  issuer: { url: '${issuer.one}', audiences: ['compat'], certificateAuthority: '${pem.hook}' },
  claimMappings: {
    username: { claim: 'sub', prefix: '' },
    groups: { claim: 'groups', prefix: 'one:' },
  },
}

const certificates = [
  '--client-ca-file=${dir}/client-ca.pem',
  '--requestheader-client-ca-file=${dir}/proxy-ca.pem',
  '--requestheader-allowed-names=front-proxy',
  '--requestheader-username-headers=X-Remote-User',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
]

export const setUps: SetUps = {
  'client-certificates': { flags: certificates },
  'token-file': {
    omit: ['token-auth-file'],
    flags: ['--token-auth-file=${dir}/more.csv'],
    files: {
      'more.csv': [
        'admin-token,admin,admin-uid,"system:masters"',
        'blanks, ann , 1 ,"a, b "',
        'no-groups,bea,2,',
        'twice,first,3',
        'twice,second,4,"g"',
        ',nobody,5',
        '"quoted ""token""","the, name",6',
        'five,eve,7,g,more',
        'no-name,,8',
        '',
      ].join('\n'),
    },
  },
  'two-issuers': {
    flags: ['--authentication-config=${dir}/authentication.json'],
    issuers: { one: {}, two: { keys: ['rsa-2'] } },
    files: {
      'authentication.json': {
        apiVersion: 'apiserver.config.k8s.io/v1beta1',
        kind: 'AuthenticationConfiguration',
        jwt: [
          issuerOne,
          {
            issuer: {
              url: '${issuer.two}',
              audiences: ['compat', 'other'],
              audienceMatchPolicy: 'MatchAny',
              certificateAuthority: '${pem.hook}',
            },
            claimMappings: {
              username: { expression: '"two:" + claims.sub' },
              uid: { expression: 'claims.?uid.orValue("")' },
              extra: [{ key: 'example.com/team', valueExpression: 'claims.?team.orValue("")' }],
            },
            userValidationRules: [
              { expression: "user.username != 'two:root'", message: 'root is nobody' },
            ],
          },
        ],
      },
    },
  },
  'token-webhook': {
    flags: [
      '--authentication-token-webhook-config-file=${dir}/tokens.json',
      '--authentication-token-webhook-version=v1',
      '--authentication-token-webhook-cache-ttl=2s',
    ],
    files: { 'tokens.json': hookConfig('tokens') },
    hooks: { tokens: unknownToken },
  },
  'authorization-webhook': {
    omit: ['authorization-mode'],
    flags: [
      '--authorization-mode=RBAC,Webhook',
      '--authorization-webhook-config-file=${dir}/access.json',
      '--authorization-webhook-version=v1',
      '--authorization-webhook-cache-authorized-ttl=2s',
      '--authorization-webhook-cache-unauthorized-ttl=2s',
    ],
    files: { 'access.json': hookConfig('access') },
    hooks: { access: noOpinion },
  },
}
