/** Test cases for `--authorization-config`. */
import type { Json } from '../../../src/api/object.ts'
import { casesOf, type ConfigCase, type FileTable, formCases, yamlOf } from './case.ts'

type Fields = { readonly [field: string]: Json }

const group = 'apiserver.config.k8s.io'
const kind = 'AuthorizationConfiguration'
const connectionInfo: Fields = { type: 'KubeConfigFile', kubeConfigFile: '$DIR/token.kubeconfig' }
const hook: Fields = {
  timeout: '2s',
  subjectAccessReviewVersion: 'v1',
  failurePolicy: 'Deny',
  connectionInfo,
}
const rbac: Fields = { type: 'RBAC', name: 'rbac' }

const file = (authorizers: Json, version = 'v1'): string =>
  yamlOf({ apiVersion: `${group}/${version}`, kind, authorizers })
const webhook = (fields: Fields): string =>
  file([{ type: 'Webhook', name: 'hook', webhook: { ...hook, ...fields } }])
const without = (name: string): string => {
  const rest = Object.fromEntries(Object.entries(hook).filter(([field]) => field !== name))
  return file([{ type: 'Webhook', name: 'hook', webhook: rest }])
}
const match = (...expressions: readonly string[]): string =>
  webhook({
    matchConditionSubjectAccessReviewVersion: 'v1',
    matchConditions: expressions.map((expression) => ({ expression })),
  })
const connection = (fields: Fields): string => webhook({ connectionInfo: fields })
const kubeconfig = (name: string): string =>
  connection({ type: 'KubeConfigFile', kubeConfigFile: `$DIR/${name}` })

const authorizers: FileTable = {
  'authorizers/none': file([]),
  'authorizers/null': file(null),
  'authorizers/absent': yamlOf({ apiVersion: `${group}/v1`, kind }),
  'authorizers/text': file('RBAC'),
  'authorizers/item-text': file(['RBAC']),
  'authorizers/item-empty': file([{}]),
  'authorizers/v1alpha1': file([rbac], 'v1alpha1'),
  'authorizers/v1beta1': file([rbac, { type: 'Webhook', name: 'hook', webhook: hook }], 'v1beta1'),
  'authorizers/all-but-webhook': file(
    ['Node', 'RBAC', 'AlwaysAllow', 'AlwaysDeny'].map((type) => ({
      type,
      name: type.toLowerCase(),
    })),
  ),
  'authorizers/type-blank': file([{ type: '', name: 'rbac' }]),
  'authorizers/type-unknown': file([{ type: 'Casbin', name: 'casbin' }]),
  'authorizers/type-lower-case': file([{ type: 'node', name: 'node' }]),
  'authorizers/type-twice': file([rbac, rbac]),
  'authorizers/name-blank': file([{ type: 'RBAC', name: '' }]),
  'authorizers/name-wrong': file([
    { type: 'RBAC', name: 'roles' },
    { type: 'AlwaysDeny', name: 'never' },
  ]),
  'authorizers/name-upper-case': file([{ type: 'RBAC', name: 'RBAC' }]),
  'authorizers/name-of-webhook-twice': file([
    { type: 'Webhook', name: 'a', webhook: hook },
    { type: 'Webhook', name: 'a', webhook: hook },
  ]),
  'authorizers/name-of-webhook-underscore': file([{ type: 'Webhook', name: 'a_b', webhook: hook }]),
  'authorizers/name-of-webhook-254': file([
    { type: 'Webhook', name: 'a'.repeat(254), webhook: hook },
  ]),
  'authorizers/name-same-as-other-type': file([
    rbac,
    { type: 'Webhook', name: 'rbac', webhook: hook },
  ]),
  'authorizers/webhook-absent': file([{ type: 'Webhook', name: 'hook' }]),
  'authorizers/webhook-null': file([{ type: 'Webhook', name: 'hook', webhook: null }]),
  'authorizers/webhook-of-rbac': file([{ ...rbac, webhook: {} }]),
  'authorizers/webhook-of-unknown-type': file([
    { type: 'X', name: 'x', webhook: { timeout: 'soon' } },
  ]),
  'authorizers/abac-without-policy': file([{ type: 'ABAC', name: 'abac' }]),
  'authorizers/abac': [
    file([{ type: 'ABAC', name: 'abac' }]),
    { 'authorization-policy-file': '$DIR/abac.jsonl' },
  ],
  'authorizers/policy-file-without-abac': [
    file([rbac]),
    { 'authorization-policy-file': '$DIR/none' },
  ],
  'flags/mode-too': [file([rbac]), { 'authorization-mode': 'RBAC' }],
  'flags/webhook-ttl-too': [file([rbac]), { 'authorization-webhook-cache-authorized-ttl': '5m' }],
  'flags/webhook-file-too-and-broken': [
    'a: [',
    { 'authorization-webhook-config-file': '$DIR/token.kubeconfig' },
  ],
}

const webhooks: FileTable = {
  'webhook/good': webhook({}),
  'webhook/v1beta1-reviews': webhook({
    subjectAccessReviewVersion: 'v1beta1',
    failurePolicy: 'NoOpinion',
  }),
  'webhook/empty': file([{ type: 'Webhook', name: 'hook', webhook: {} }]),
  'webhook/unknown-field': webhook({ retries: 3 }),
  'webhook/no-timeout': without('timeout'),
  'webhook/timeout-null': webhook({ timeout: null }),
  'webhook/timeout-zero': webhook({ timeout: '0s' }),
  'webhook/timeout-zero-alone': webhook({ timeout: '0' }),
  'webhook/timeout-30s': webhook({ timeout: '30s' }),
  'webhook/timeout-31s': webhook({ timeout: '31s' }),
  'webhook/timeout-hours': webhook({ timeout: '1h2m3.5s' }),
  'webhook/timeout-negative': webhook({ timeout: '-250ms' }),
  'webhook/timeout-tiny': webhook({ timeout: '10us' }),
  'webhook/timeout-number': webhook({ timeout: 2 }),
  'webhook/timeout-map': webhook({ timeout: {} }),
  'webhook/timeout-no-unit': webhook({ timeout: '2' }),
  'webhook/timeout-words': webhook({ timeout: 'soon' }),
  'webhook/timeout-blank': webhook({ timeout: '' }),
  'webhook/timeout-days': webhook({ timeout: '1d' }),
  'webhook/times-to-live': webhook({ authorizedTTL: '1m', unauthorizedTTL: '1s' }),
  'webhook/times-to-live-zero': webhook({ authorizedTTL: '0s', unauthorizedTTL: '0s' }),
  'webhook/times-to-live-negative': webhook({ authorizedTTL: '-1m', unauthorizedTTL: '-1.5s' }),
  'webhook/two-durations-broken': webhook({ authorizedTTL: 'x', timeout: 'y' }),
  'webhook/duration-broken-and-unknown-field': webhook({ timeout: 'y', retries: 3 }),
  'webhook/no-review-version': without('subjectAccessReviewVersion'),
  'webhook/review-version-unknown': webhook({ subjectAccessReviewVersion: 'v1alpha1' }),
  'webhook/match-version-unknown': webhook({ matchConditionSubjectAccessReviewVersion: 'v1beta1' }),
  'webhook/match-version-without-conditions': webhook({
    matchConditionSubjectAccessReviewVersion: 'v1',
  }),
  'webhook/no-failure-policy': without('failurePolicy'),
  'webhook/failure-policy-unknown': webhook({ failurePolicy: 'Fail' }),
  'webhook/no-connection': without('connectionInfo'),
  'webhook/connection-type-unknown': connection({ type: 'Socket' }),
  'webhook/connection-type-unknown-with-file': connection({ type: 'Socket', kubeConfigFile: '/x' }),
  'webhook/in-cluster': connection({ type: 'InClusterConfig' }),
  'webhook/in-cluster-with-file': connection({ type: 'InClusterConfig', kubeConfigFile: '' }),
  'webhook/kubeconfig-absent': connection({ type: 'KubeConfigFile' }),
  'webhook/kubeconfig-blank': connection({ type: 'KubeConfigFile', kubeConfigFile: '' }),
  'webhook/kubeconfig-relative': connection({ type: 'KubeConfigFile', kubeConfigFile: './a' }),
  'webhook/kubeconfig-not-there': kubeconfig('nothing'),
  'webhook/kubeconfig-below-file': kubeconfig('token.kubeconfig/a'),
  'webhook/kubeconfig-folder': connection({ type: 'KubeConfigFile', kubeConfigFile: '$DIR' }),
  'webhook/kubeconfig-text': kubeconfig('text'),
  'several/of-everything': file([
    {
      type: 'Webhook',
      name: 'A',
      webhook: {
        timeout: '-1s',
        subjectAccessReviewVersion: 'x',
        failurePolicy: 'x',
        connectionInfo: { type: 'x' },
        matchConditions: [{}],
      },
    },
    { type: 'Webhook', name: 'A' },
    rbac,
    { type: 'RBAC', name: 'other' },
    { type: '', name: '' },
  ]),
}

const conditions: FileTable = {
  'match/good': match(
    "request.user != 'a'",
    "'system:nodes' in request.groups",
    "has(request.resourceAttributes) && request.resourceAttributes.verb == 'get'",
  ),
  'match/all-fields': match(
    "request.uid == '' || request.extra['a'].exists(x, x == 'b') || request.nonResourceAttributes.path == '/' || request.nonResourceAttributes.verb == 'get'",
    "[request.resourceAttributes.namespace, request.resourceAttributes.group, request.resourceAttributes.version, request.resourceAttributes.resource, request.resourceAttributes.subresource, request.resourceAttributes.name].all(x, x == '')",
  ),
  'match/selectors': match(
    "request.resourceAttributes.fieldSelector.rawSelector == ''",
    "request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'a' && r.operator == 'In' && 'x' in r.values)",
    'request.resourceAttributes.?fieldSelector.requirements.hasValue()',
  ),
  'match/selectors-gate-off': [
    match("request.resourceAttributes.fieldSelector.rawSelector == ''"),
    { 'feature-gates': 'AuthorizeWithSelectors=false,AuthorizeNodeWithSelectors=false' },
  ],
  'match/selector-unknown-field': match(
    'request.resourceAttributes.labelSelector.matchLabels.size() == 0',
  ),
  'match/without-version': webhook({ matchConditions: [{ expression: 'true' }] }),
  'match/empty-item': webhook({
    matchConditionSubjectAccessReviewVersion: 'v1',
    matchConditions: [{}],
  }),
  'match/white-space': match(' \t\n'),
  'match/twice': match('true', 'true'),
  'match/twice-with-fault': match('tru', 'tru'),
  'match/string': match("request.user + 'a'"),
  'match/list': match('request.groups'),
  'match/struct': match('request.resourceAttributes'),
  'match/dynamic': match('dyn(true)'),
  'match/map': match('request.extra'),
  'match/null': match('null'),
  'match/duration': match("duration('1s')"),
  'match/unknown-field': match('request.username == "a"'),
  'match/unknown-nested-field': match('request.resourceAttributes.kind == "a"'),
  'match/wrong-type': match('request.groups == "a"'),
  'match/has-of-variable': match('has(request)'),
  'match/other-variable': match("object.metadata.name == 'a'"),
  'match/broken': match('request.user in [', "request.user == 'a' &&", '(', ')'),
  'match/bad-pattern': match("request.user.matches('(')"),
  'match/64': match(...Array.from({ length: 64 }, (_, at) => `request.user != 'u${at}'`)),
  'match/65': match(...Array.from({ length: 65 }, (_, at) => `request.user != 'u${at}'`)),
  'match/long': match(
    `request.user in ${JSON.stringify(Array.from({ length: 500 }, (_, at) => `u${at}`))}`,
  ),
}

export const authorizationCases: readonly ConfigCase[] = casesOf(
  'authorization',
  { 'authorization-config': '$FILE', 'authorization-mode': null },
  {
    ...formCases(`${group}/v1`, kind, 'authorizers: [{"type":"RBAC","name":"rbac"}]\n'),
    ...authorizers,
    ...webhooks,
    ...conditions,
    'form/kind-of-authentication': `apiVersion: ${group}/v1beta1\nkind: AuthenticationConfiguration\njwt: []\n`,
  },
)
