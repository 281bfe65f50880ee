/**
 * Admission plugins with configuration files. If a configuration names a namespace, only one
 * scenario uses this namespace.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SetUp, SetUps } from '../set-ups.ts'
import { hookConfig } from './access.ts'

const audited = ['--audit-policy-file=${dir}/policy.json', '--audit-log-path=${dir}/audit.log']
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [{ level: 'Metadata', omitStages: ['RequestReceived'] }],
}

/** Enables a plugin with a configuration; null means no configuration. */
const configured = (name: string, configuration: unknown): SetUp => ({
  flags: [
    ...audited,
    `--enable-admission-plugins=${name}`,
    ...(configuration === null ? [] : ['--admission-control-config-file=${dir}/admission.json']),
  ],
  files: {
    'policy.json': policy,
    'admission.json': {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [{ name, configuration }],
    },
  },
})

const podSecurity = {
  apiVersion: 'pod-security.admission.config.k8s.io/v1',
  kind: 'PodSecurityConfiguration',
  defaults: {
    enforce: 'baseline',
    'enforce-version': 'v1.28',
    audit: 'restricted',
    warn: 'restricted',
  },
  exemptions: {
    usernames: ['alice'],
    namespaces: ['exempt-pods', 'exempt-labels', 'exempt-plain'],
    runtimeClasses: ['exempt-class'],
  },
}

const scope = (operator: string, values?: readonly string[]): object => ({
  scopeName: 'PriorityClass',
  operator,
  values,
})

const limitedResources = [
  {
    resource: 'pods',
    matchContains: ['requests.cpu', 'example.com/'],
    matchScopes: [scope('In', ['limited', 'other', 'third'])],
  },
  {
    resource: 'persistentvolumeclaims',
    matchContains: ['.storageclass.storage.k8s.io/requests.storage'],
  },
  { apiGroup: 'apps', resource: 'deployments', matchContains: ['count/deployments.apps'] },
  { resource: 'configmaps', matchContains: ['configmaps'] },
]

const tolerations = {
  apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1',
  kind: 'Configuration',
  default: [{ key: 'cluster', operator: 'Equal', value: 'default', effect: 'NoSchedule' }],
  whitelist: [
    { key: 'cluster', operator: 'Equal', value: 'default', effect: 'NoSchedule' },
    { key: 'allowed', operator: 'Exists' },
    { key: 'timed', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
    { operator: 'Exists', effect: 'PreferNoSchedule' },
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists' },
    { key: 'node.kubernetes.io/unreachable', operator: 'Exists' },
    { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists' },
  ],
}

const events = (...limits: readonly object[]): SetUp =>
  configured('EventRateLimit', {
    apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
    kind: 'Configuration',
    limits,
  })

const images = (more: object): SetUp => {
  const imagePolicy = { kubeConfigFile: '${dir}/images.json', retryBackoff: 1, ...more }
  const { flags, files } = configured('ImagePolicyWebhook', { imagePolicy })
  return {
    flags,
    files: { ...files, 'images.json': hookConfig('images') },
    hooks: {
      images: () => ({
        apiVersion: 'imagepolicy.k8s.io/v1alpha1',
        kind: 'ImageReview',
        status: { allowed: true },
      }),
    },
  }
}

/**
 * Returns a certificate or key of the runner's own webhooks. These set-ups also use them as a
 * client certificate.
 */
const pem = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../fixtures', name)).toString('base64')
const certified = {
  'client-certificate-data': pem('hook-cert.pem'),
  'client-key-data': pem('hook-key.pem'),
}

/**
 * Returns a kubeconfig with users by name. The current context uses the user `current`, if that
 * user is given.
 */
const usersOf = (users: Readonly<Record<string, object>>): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  users: Object.entries(users).map(([name, user]) => ({ name, user })),
  contexts: [{ name: 'x', context: { cluster: '', user: 'current' } }],
  'current-context': 'x',
})

const webhooks = (mutating: object, validating: object): SetUp => ({
  flags: ['--admission-control-config-file=${dir}/admission.json'],
  files: {
    'mutating.json': mutating,
    'validating.json': validating,
    'admission.json': {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: ['Mutating', 'Validating'].map((type) => ({
        name: `${type}AdmissionWebhook`,
        configuration: {
          apiVersion: 'apiserver.config.k8s.io/v1',
          kind: 'WebhookAdmissionConfiguration',
          kubeConfigFile: `\${dir}/${type.toLowerCase()}.json`,
        },
      })),
    },
  },
})

export const setUps: SetUps = {
  'pod-security-configured': configured('PodSecurity', podSecurity),
  'quota-limited': configured('ResourceQuota', {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'ResourceQuotaConfiguration',
    limitedResources,
  }),
  'pod-node-selector': configured('PodNodeSelector', null),
  'pod-node-selector-configured': configured('PodNodeSelector', {
    podNodeSelectorPluginConfig: {
      clusterDefaultNodeSelector: 'zone=default',
      'listed-nodes': 'zone=default, disk=ssd',
      'listed-annotated': 'zone=a,disk=ssd',
      'listed-invalid': 'disk in (ssd)',
    },
  }),
  'pod-toleration-restriction': configured('PodTolerationRestriction', null),
  'pod-toleration-restriction-configured': configured('PodTolerationRestriction', tolerations),
  'event-rate-limit-namespace': events({ type: 'Namespace', qps: 1, burst: 2 }),
  'event-rate-limit-user': events({ type: 'User', qps: 1, burst: 2 }),
  'event-rate-limit-source': events({ type: 'SourceAndObject', qps: 1, burst: 1 }),
  'event-rate-limit-several': events(
    { type: 'Namespace', qps: 1, burst: 1 },
    { type: 'SourceAndObject', qps: 1, burst: 1 },
    { type: 'Server', qps: 1000, burst: 1000 },
  ),
  'image-policy': images({ allowTTL: -1, denyTTL: -1 }),
  'image-policy-cached': images({ allowTTL: 60, denyTTL: 60 }),
  'image-policy-default-allow': images({ allowTTL: -1, denyTTL: -1, defaultAllow: true }),
  'webhook-credentials': webhooks(
    usersOf({
      '*': { token: 'token-for-all' },
      current: { token: 'other' },
      '127.0.0.1': { token: 'other' },
    }),
    usersOf({ current: certified, 'hooks.example.org': { token: 'other' } }),
  ),
  'webhook-credentials-other': webhooks(
    usersOf({ '*': { username: 'a', password: 'b:c' } }),
    usersOf({ 'hooks.example.org': { token: 'other' }, '*.0.1': { token: 'other' } }),
  ),
}
