/** Test cases in which each field of each file has values of all wrong JSON types. */
import { type Fields, isFields, type Json } from '../../../src/api/object.ts'
import { casesOf, type ConfigCase, type FileTable, yamlOf } from './case.ts'

const authentication = {
  apiVersion: 'apiserver.config.k8s.io/v1beta1',
  kind: 'AuthenticationConfiguration',
  jwt: [
    {
      issuer: {
        url: 'https://login.example.org',
        discoveryURL: 'https://discovery.example.org',
        certificateAuthority: '',
        audiences: ['cluster'],
        audienceMatchPolicy: 'MatchAny',
      },
      claimValidationRules: [
        { claim: 'a', requiredValue: 'b' },
        { expression: 'true', message: 'm' },
      ],
      claimMappings: {
        username: { claim: 'sub', prefix: '' },
        groups: { expression: 'claims.groups' },
        uid: { claim: 'id' },
        extra: [{ key: 'example.org/a', valueExpression: 'claims.a' }],
      },
      userValidationRules: [{ expression: 'true', message: 'm' }],
    },
  ],
  anonymous: { enabled: true, conditions: [{ path: '/livez' }] },
}

const authorization = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthorizationConfiguration',
  authorizers: [
    {
      type: 'Webhook',
      name: 'hook',
      webhook: {
        authorizedTTL: '1m',
        unauthorizedTTL: '1s',
        timeout: '2s',
        subjectAccessReviewVersion: 'v1',
        matchConditionSubjectAccessReviewVersion: 'v1',
        failurePolicy: 'Deny',
        connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '$DIR/token.kubeconfig' },
        matchConditions: [{ expression: 'true' }],
      },
    },
  ],
}

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  metadata: {
    name: 'a',
    generation: 1,
    creationTimestamp: '2001-02-03T04:05:06Z',
    labels: { a: 'b' },
  },
  omitStages: ['Panic'],
  omitManagedFields: true,
  rules: [
    {
      level: 'Metadata',
      users: ['a'],
      userGroups: ['b'],
      verbs: ['get'],
      resources: [{ group: 'apps', resources: ['deployments'], resourceNames: ['a'] }],
      namespaces: ['n'],
      omitStages: ['Panic'],
      omitManagedFields: true,
    },
    { level: 'None', nonResourceURLs: ['/a'] },
  ],
}

const kubeconfig = {
  apiVersion: 'v1',
  kind: 'Config',
  preferences: { colors: true },
  clusters: [
    {
      name: 'c',
      cluster: {
        server: 'https://127.0.0.1:9',
        'tls-server-name': 'a',
        'insecure-skip-tls-verify': true,
      },
    },
  ],
  users: [
    {
      name: 'u',
      user: { token: 'secret', as: 'a', 'as-groups': ['g'], 'as-user-extra': { k: ['v'] } },
    },
  ],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'n' } }],
  'current-context': 'x',
}

const values: { readonly [type: string]: Json } = {
  null: null,
  number: 5,
  text: 'x',
  list: ['x'],
  map: { x: 'y' },
}

/**
 * Yields copies of a value, in each of which one inner value is replaced by a value of another
 * type.
 */
function* variantsOf(value: Json, path: string): Generator<readonly [string, Json]> {
  for (const [type, other] of Object.entries(values)) {
    const isSame = typeof value === typeof other && Array.isArray(value) === Array.isArray(other)
    if (path !== '' && (other === null || !isSame)) yield [`${path}-${type}`, other]
  }
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      for (const [name, other] of variantsOf(item, `${path}.${at}`))
        yield [name, value.with(at, other)]
    }
  } else if (isFields(value)) {
    for (const [field, inner] of Object.entries(value)) {
      if (inner === undefined || (path === '' && /^(?:kind|apiVersion)$/.test(field))) continue
      for (const [name, other] of variantsOf(inner, path === '' ? field : `${path}.${field}`)) {
        yield [name, { ...value, [field]: other }]
      }
    }
  }
}

function tableOf(file: Fields): FileTable {
  const variants = [...variantsOf(file, '')].map(([name, value]) => [
    name,
    yamlOf(isFields(value) ? value : {}),
  ])
  return Object.fromEntries(variants)
}

export const typeCases: readonly ConfigCase[] = [
  ...casesOf('types/authentication', { 'authentication-config': '$FILE' }, tableOf(authentication)),
  ...casesOf(
    'types/authorization',
    { 'authorization-config': '$FILE', 'authorization-mode': null },
    tableOf(authorization),
  ),
  ...casesOf(
    'types/audit',
    { 'audit-policy-file': '$FILE', 'audit-log-path': '-' },
    tableOf(policy),
  ),
  ...casesOf(
    'types/kubeconfig',
    { 'authentication-token-webhook-config-file': '$FILE' },
    tableOf(kubeconfig),
  ),
]
