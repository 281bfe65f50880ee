/**
 * JWT authenticators with one issuer for each way to map and validate claims, so that a single
 * server covers all of them. Another set-up configures an issuer with flags.
 */
import type { SetUps } from '../set-ups.ts'

const sub = { claim: 'sub', prefix: '' }

/**
 * Returns an authenticator for the issuer with this name. `issuer` contains additional fields of
 * the issuer.
 */
const authenticator = (
  name: string,
  { issuer = {}, ...fields }: { issuer?: object; [field: string]: unknown } = {},
) => ({
  issuer: {
    url: `\${issuer.${name}}`,
    audiences: ['compat'],
    certificateAuthority: '${pem.hook}',
    ...issuer,
  },
  claimMappings: { username: sub },
  ...fields,
})

const authenticators = {
  plain: {},
  prefixed: {
    claimMappings: {
      username: { claim: 'sub', prefix: 'u:' },
      groups: { claim: 'groups', prefix: 'g:' },
      uid: { claim: 'oid' },
    },
  },
  mail: { claimMappings: { username: { claim: 'email', prefix: '' } } },
  audiences: { issuer: { audiences: ['compat', 'other'], audienceMatchPolicy: 'MatchAny' } },
  required: {
    claimValidationRules: [{ claim: 'hd', requiredValue: 'example.com' }, { claim: 'empty' }],
  },
  expressions: {
    claimMappings: {
      username: { expression: 'claims.name' },
      groups: { expression: 'claims.?roles.orValue([])' },
      uid: { expression: 'claims.?oid.orValue("")' },
      extra: [
        { key: 'example.com/one', valueExpression: 'claims.?one.orValue("")' },
        { key: 'example.com/two', valueExpression: 'has(claims.two) ? claims.two : null' },
      ],
    },
  },
  rules: {
    claimMappings: { username: sub, groups: { claim: 'groups', prefix: '' } },
    claimValidationRules: [
      { expression: 'claims.exp - claims.iat <= 3600', message: 'an hour at the most' },
      { expression: "!has(claims.tenant) || claims.tenant in ['a', 'b']" },
    ],
    userValidationRules: [
      { expression: "!user.username.startsWith('system:')", message: 'reserved' },
      {
        expression: "user.groups.all(group, !group.startsWith('system:'))",
        message: 'reserved, too',
      },
      { expression: "user.uid == '' && !('example.com/x' in user.extra)" },
    ],
  },
  verified: {
    claimMappings: {
      username: { expression: 'claims.email_verified ? claims.email : "unverified"' },
    },
  },
  far: { issuer: { discoveryURL: '${issuer.documents}/.well-known/openid-configuration' } },
  /** Authenticator whose issuer has a discovery document that names another issuer. */
  liar: {},
}

export const setUps: SetUps = {
  oidc: {
    flags: ['--authentication-config=${dir}/authentication.json'],
    issuers: {
      ...Object.fromEntries(Object.keys(authenticators).map((name) => [name, {}])),
      far: { keys: ['rsa-2'] },
      documents: { keys: ['rsa'], discovery: { issuer: '${issuer.far}' } },
      liar: { discovery: { issuer: 'https://somebody.example.com' } },
    },
    files: {
      'authentication.json': {
        apiVersion: 'apiserver.config.k8s.io/v1beta1',
        kind: 'AuthenticationConfiguration',
        jwt: Object.entries(authenticators).map(([name, fields]) => authenticator(name, fields)),
      },
    },
  },
  'oidc-flags': {
    flags: [
      '--oidc-issuer-url=${issuer.flags}',
      '--oidc-client-id=compat',
      '--oidc-ca-file=${dir}/hook-ca.pem',
      '--oidc-username-claim=email',
      '--oidc-groups-claim=groups',
      '--oidc-groups-prefix=oidc:',
      '--oidc-required-claim=hd=example.com',
      '--oidc-signing-algs=ES256',
    ],
    issuers: { flags: {} },
  },
}
