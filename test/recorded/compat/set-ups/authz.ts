/** Set-ups with chains of authorization webhooks that have conditions, and with ABAC. */
import type { SetUps } from '../set-ups.ts'
import { hookConfig } from './access.ts'

const noOpinion = (review: unknown): object => ({
  ...(typeof review === 'object' ? review : {}),
  status: { allowed: false },
})

type Webhook = {
  readonly version?: string
  readonly failurePolicy?: string
  readonly conditions: readonly string[]
}

/**
 * Returns the configuration of an authorization webhook. Its kubeconfig and its webhook on the
 * runner's server have the same name.
 */
const webhook = (
  name: string,
  { version = 'v1', failurePolicy = 'NoOpinion', conditions }: Webhook,
): object => ({
  type: 'Webhook',
  name,
  webhook: {
    timeout: '1s',
    authorizedTTL: '2s',
    unauthorizedTTL: '1s',
    subjectAccessReviewVersion: version,
    matchConditionSubjectAccessReviewVersion: 'v1',
    failurePolicy,
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: `\${dir}/${name}.json` },
    matchConditions: conditions.map((expression) => ({ expression })),
  },
})

/** Returns a match condition. A webhook is called only for users in a certain group. */
const inGroup = (group: string): string => `request.groups.exists(g, g == '${group}')`

const names = ['first', 'beta', 'strict', 'pods', 'broken', 'fatal'] as const

const policy = (spec: object): string =>
  `${JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec })}\n`

const policies = [
  policy({ user: 'abac-all', namespace: '*', resource: '*', apiGroup: '*', nonResourcePath: '*' }),
  policy({
    user: 'abac-reader',
    namespace: '*',
    resource: '*',
    apiGroup: '*',
    nonResourcePath: '*',
    readonly: true,
  }),
  policy({ user: 'abac-default', namespace: 'default', resource: '*', apiGroup: '*' }),
  policy({ user: 'abac-maps', namespace: '*', resource: 'configmaps', apiGroup: '' }),
  policy({ user: 'abac-apps', namespace: '*', resource: '*', apiGroup: 'apps' }),
  policy({ user: 'abac-cluster', namespace: '', resource: '*', apiGroup: '*' }),
  policy({ user: 'abac-paths', nonResourcePath: '/api*' }),
  policy({ user: 'abac-version', nonResourcePath: '/version', readonly: true }),
  policy({ user: 'abac-subresource', namespace: '*', resource: 'pods/log', apiGroup: '*' }),
  policy({ group: 'abac-group', namespace: '*', resource: 'configmaps', apiGroup: '*' }),
  policy({
    user: 'abac-both',
    group: 'abac-group',
    namespace: '*',
    resource: 'secrets',
    apiGroup: '*',
  }),
  policy({ user: 'abac-roles', namespace: '*', resource: 'roles', apiGroup: '*' }),
  policy({ user: '*', resource: 'selfsubjectrulesreviews', namespace: '', apiGroup: '*' }),
  '# a comment\n',
  '{"user":"abac-old","resource":"configmaps"}\n',
]

const abac = (modes: string): SetUps[string] => ({
  omit: ['authorization-mode'],
  flags: [`--authorization-mode=${modes}`, '--authorization-policy-file=${dir}/policies.jsonl'],
  files: { 'policies.jsonl': policies.join('') },
})

export const setUps: SetUps = {
  abac: abac('ABAC'),
  'abac-rbac': abac('ABAC,RBAC'),
  'authorization-chain': {
    omit: ['authorization-mode'],
    flags: ['--authorization-config=${dir}/authorization.json'],
    files: {
      ...Object.fromEntries(names.map((name) => [`${name}.json`, hookConfig(name)])),
      'authorization.json': {
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'AuthorizationConfiguration',
        authorizers: [
          webhook('first', { conditions: [inGroup('first')] }),
          webhook('beta', { version: 'v1beta1', conditions: [inGroup('beta')] }),
          webhook('strict', { failurePolicy: 'Deny', conditions: [inGroup('strict')] }),
          webhook('pods', {
            conditions: [
              inGroup('pods'),
              'has(request.resourceAttributes)',
              "request.resourceAttributes.resource == 'pods' && request.resourceAttributes.namespace != ''",
              "!has(request.resourceAttributes.labelSelector) || request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'team' && r.operator == 'In' && r.values == ['a'])",
            ],
          }),
          webhook('broken', {
            conditions: [inGroup('broken'), "request.extra['level'][0] == 'high'"],
          }),
          webhook('fatal', {
            failurePolicy: 'Deny',
            conditions: [
              "request.extra['level'][0] == 'high' || !request.groups.exists(g, g == 'fatal')",
            ],
          }),
          { type: 'RBAC', name: 'rbac' },
        ],
      },
    },
    hooks: Object.fromEntries(names.map((name) => [name, noOpinion])),
  },
}
