/**
 * Test cases for `--admission-control-config-file` and for the configuration of admission plugins.
 */
import type { Json } from '../../../src/api/object.ts'
import { casesOf, type ConfigCase, type FileTable, formCases, yamlOf } from './case.ts'

type Fields = { readonly [field: string]: Json }

const file = (fields: Fields): string =>
  yamlOf({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', ...fields })

const plugin = (name: string, configuration: Json): string =>
  file({ plugins: [{ name, configuration }] })

type EnabledPlugins = readonly [string, { readonly 'enable-admission-plugins': string }]

const enabling = (name: string, text: string): EnabledPlugins => [
  text,
  { 'enable-admission-plugins': name },
]

const podSecurity = (fields: Fields): string =>
  plugin('PodSecurity', {
    apiVersion: 'pod-security.admission.config.k8s.io/v1',
    kind: 'PodSecurityConfiguration',
    ...fields,
  })

const quota = (fields: Fields): string =>
  plugin('ResourceQuota', {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'ResourceQuotaConfiguration',
    ...fields,
  })

const events = (fields: Fields): EnabledPlugins =>
  enabling(
    'EventRateLimit',
    plugin('EventRateLimit', {
      apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
      kind: 'Configuration',
      ...fields,
    }),
  )

const tolerations = (fields: Fields): EnabledPlugins =>
  enabling(
    'PodTolerationRestriction',
    plugin('PodTolerationRestriction', {
      apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1',
      kind: 'Configuration',
      ...fields,
    }),
  )

const image = (fields: Fields): EnabledPlugins =>
  enabling(
    'ImagePolicyWebhook',
    plugin('ImagePolicyWebhook', {
      imagePolicy: { kubeConfigFile: '$DIR/token.kubeconfig', ...fields },
    }),
  )

const imagePath = (path: string): EnabledPlugins =>
  enabling('ImagePolicyWebhook', file({ plugins: [{ name: 'ImagePolicyWebhook', path }] }))

const selector = (configuration: Json): EnabledPlugins =>
  enabling('PodNodeSelector', plugin('PodNodeSelector', configuration))

const webhooks = (name: string, kubeConfigFile: string): string =>
  plugin(name, {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'WebhookAdmissionConfiguration',
    kubeConfigFile,
  })

const limit = { type: 'Namespace', qps: 5, burst: 10 }

const table: FileTable = {
  'plugins/null': file({ plugins: null }),
  'plugins/item-null': file({ plugins: [null] }),
  'plugins/name-number': file({ plugins: [{ name: 1 }] }),
  'plugins/path-number': file({ plugins: [{ name: 'PodSecurity', path: 1 }] }),
  'plugins/unknown-and-duplicate': `${file({ plugins: [{ name: 'A', pat: 'x' }] })}plugins: []\n`,
  'plugins/duplicate-inside-configuration': `${file({})}plugins:\n- name: PodSecurity\n  configuration:\n    a: 1\n    a: 2\n`,
  'plugins/configuration-null-and-path': file({
    plugins: [{ name: 'PodSecurity', configuration: null, path: '$DIR/pod-security.yaml' }],
  }),
  'plugins/configuration-for-a-plugin-without': plugin('LimitRanger', { garbage: true }),
  'plugins/configuration-for-a-disabled-plugin': [
    plugin('PodSecurity', { garbage: true }),
    { 'disable-admission-plugins': 'PodSecurity' },
  ],
  'plugins/first-of-two-counts': file({
    plugins: [
      { name: 'PodSecurity', configuration: { garbage: true } },
      { name: 'PodSecurity', path: '$DIR/pod-security.yaml' },
    ],
  }),
  'plugins/path-to-unknown-field': file({
    plugins: [{ name: 'PodSecurity', path: '$DIR/pod-security-unknown.yaml' }],
  }),
  'plugins/path-to-empty-file': file({ plugins: [{ name: 'PodSecurity', path: '$DIR/empty' }] }),
  'plugins/path-to-empty-file-of-quota': file({
    plugins: [{ name: 'ResourceQuota', path: '$DIR/empty' }],
  }),
  'plugins/path-to-blank-file': file({ plugins: [{ name: 'PodSecurity', path: '$DIR/blank' }] }),
  'plugins/configuration-is-a-text': plugin('PodSecurity', 'restricted'),
  'plugins/configuration-is-a-list': plugin('ResourceQuota', []),
  'kind/tracing': 'apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: TracingConfiguration\n',
  'kind/authorization':
    'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n',
  'kind/egress': 'apiVersion: apiserver.k8s.io/v1alpha1\nkind: EgressSelectorConfiguration\n',
  'unversioned/both': [
    'imagePolicy: {kubeConfigFile: $DIR/token.kubeconfig}\npodNodeSelectorPluginConfig: {a: b=c}\n',
    { 'enable-admission-plugins': 'ImagePolicyWebhook,PodNodeSelector' },
  ],
  'unversioned/neither-plugin-enabled': 'imagePolicy: {}\n',
  'unversioned/other-letters': enabling('ImagePolicyWebhook', 'imagepolicy: {}\n'),
  'unversioned/beside-a-kind': enabling(
    'PodNodeSelector',
    'kind: A\napiVersion: b/v1\npodNodeSelectorPluginConfig: {}\n',
  ),

  'pod-security/defaults-null': podSecurity({ defaults: null, exemptions: null }),
  'pod-security/every-level-wrong': podSecurity({
    defaults: {
      enforce: 'a',
      'enforce-version': 'b',
      audit: 'c',
      'audit-version': 'd',
      warn: 'e',
      'warn-version': 'f',
    },
  }),
  'pod-security/version-leading-zero': podSecurity({ defaults: { 'warn-version': 'v1.08' } }),
  'pod-security/version-too-large': podSecurity({
    defaults: { 'warn-version': 'v1.99999999999999999999' },
  }),
  'pod-security/level-number': podSecurity({ defaults: { enforce: 1 } }),
  'pod-security/exemptions-text': podSecurity({ exemptions: { usernames: 'a' } }),
  'pod-security/exemptions-every-fault': podSecurity({
    exemptions: {
      usernames: ['', 'a', 'a'],
      namespaces: ['A', 'a', 'a'],
      runtimeClasses: ['a.b', 'a_b', 'a.b'],
    },
  }),
  'pod-security/unknown-in-defaults': podSecurity({ defaults: { enforced: 'baseline' } }),

  'quota/limited-text': quota({ limitedResources: 'pods' }),
  'quota/resource-number': quota({ limitedResources: [{ resource: 1 }] }),
  'quota/two-without-resource': quota({ limitedResources: [{}, { resource: '' }] }),
  'quota/scope-values-text': quota({
    limitedResources: [
      {
        resource: 'pods',
        matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: 'a' }],
      },
    ],
  }),
  'quota/kind-of-another-version': plugin('ResourceQuota', {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'Configuration',
  }),

  'events/limits-null': events({ limits: null }),
  'events/limits-text': events({ limits: 'many' }),
  'events/limit-null': events({ limits: [null] }),
  'events/burst-too-large': events({ limits: [{ ...limit, burst: 2147483648 }] }),
  'events/burst-largest': events({ limits: [{ ...limit, burst: 2147483647 }] }),
  'events/unknown-field': events({ limits: [{ ...limit, size: 7 }], limit: [] }),
  'events/no-file': [
    null,
    { 'enable-admission-plugins': 'EventRateLimit', 'admission-control-config-file': null },
  ],

  'tolerations/empty': tolerations({}),
  'tolerations/blank-key': tolerations({ default: [{ operator: 'Equal', value: 'a' }] }),
  'tolerations/several': tolerations({
    default: [{ key: 'a b', operator: 'Exists' }],
    whitelist: [
      { key: 'a', operator: 'Equal', value: 'b c' },
      { key: 'a', tolerationSeconds: 5 },
    ],
  }),
  'tolerations/seconds-text': tolerations({
    default: [{ key: 'a', operator: 'Exists', tolerationSeconds: '5' }],
  }),

  'image/ttl-number-too-large': image({ allowTTL: 1e30 }),
  'image/ttl-fraction': image({ denyTTL: 1.5 }),
  'image/several-wrong': image({ allowTTL: 1e6, denyTTL: 1e6, retryBackoff: 1e9 }),
  'image/other-letters': enabling(
    'ImagePolicyWebhook',
    plugin('ImagePolicyWebhook', {
      ImagePolicy: { KUBECONFIGFILE: '$DIR/token.kubeconfig', allowttl: 9999 },
    }),
  ),
  'image/policy-text': enabling(
    'ImagePolicyWebhook',
    plugin('ImagePolicyWebhook', { imagePolicy: 'x' }),
  ),
  'image/path': imagePath('$DIR/image-policy.yaml'),
  'image/path-text-for-ttl': imagePath('$DIR/image-policy-text.yaml'),
  'image/path-empty': imagePath('$DIR/empty'),
  'image/path-no-yaml': imagePath('$DIR/text'),

  'node-selector/none': enabling('PodNodeSelector', file({})),
  'node-selector/empty': selector({}),
  'node-selector/valid': selector({
    podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'a=b', n: 'c=d' },
  }),
  'node-selector/not-a-selector': selector({ podNodeSelectorPluginConfig: { n: 'a in (b)' } }),
  'node-selector/number': selector({ podNodeSelectorPluginConfig: { n: 1 } }),
  'node-selector/text': selector({ podNodeSelectorPluginConfig: 'a=b' }),

  'webhooks/users': webhooks('ValidatingAdmissionWebhook', '$DIR/users.kubeconfig'),
  'webhooks/users-of-mutating': webhooks('MutatingAdmissionWebhook', '$DIR/users.kubeconfig'),
  'webhooks/empty-kubeconfig': webhooks('ValidatingAdmissionWebhook', '$DIR/empty'),
  'webhooks/kubeconfig-number': plugin('ValidatingAdmissionWebhook', {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'WebhookAdmissionConfiguration',
    kubeConfigFile: 1,
  }),
  'webhooks/kubeconfig-of-a-folder': webhooks('MutatingAdmissionWebhook', '$DIR'),
}

export const admissionCases: readonly ConfigCase[] = casesOf(
  'admission',
  { 'admission-control-config-file': '$FILE' },
  {
    ...formCases(
      'apiserver.config.k8s.io/v1',
      'AdmissionConfiguration',
      'plugins: [{"name":"PodSecurity"}]\n',
    ),
    ...table,
  },
)
