/**
 * Set-ups with audit policies whose rules depend on more than the user, and with different modes of
 * the audit backends.
 */
import type { SetUps } from '../set-ups.ts'
import { hookConfig } from './access.ts'

const policyOf = (policy: object): object => ({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  ...policy,
})

const rules = [
  { level: 'None', users: ['system:apiserver', 'system:anonymous'] },
  { level: 'None', nonResourceURLs: ['/healthz*', '/readyz'] },
  {
    level: 'Request',
    verbs: ['get', 'list'],
    resources: [{ group: '', resources: ['configmaps'] }],
  },
  {
    level: 'RequestResponse',
    resources: [{ group: '', resources: ['configmaps'], resourceNames: ['named'] }],
  },
  {
    level: 'Metadata',
    resources: [{ group: '', resources: ['secrets', 'configmaps'] }],
    omitStages: ['RequestReceived'],
  },
  { level: 'Request', resources: [{ group: '', resources: ['pods/*'] }] },
  { level: 'Metadata', resources: [{ group: '', resources: ['*/token'] }] },
  { level: 'None', resources: [{ group: 'apps', resources: ['deployments'] }] },
  { level: 'RequestResponse', resources: [{ group: 'apps' }], omitManagedFields: false },
  { level: 'Metadata', namespaces: [''], verbs: ['get'] },
  { level: 'Metadata', nonResourceURLs: ['/version', '/api*'] },
  { level: 'Request', userGroups: ['dev'] },
]

export const setUps: SetUps = {
  'audit-rules': {
    flags: ['--audit-policy-file=${dir}/policy.json', '--audit-log-path=${dir}/audit.log'],
    files: {
      'policy.json': policyOf({ rules, omitStages: ['ResponseStarted'], omitManagedFields: true }),
    },
  },
  'audit-batch': {
    flags: [
      '--audit-policy-file=${dir}/policy.json',
      '--audit-log-path=${dir}/audit.log',
      '--audit-log-mode=batch',
      '--audit-log-truncate-enabled=true',
      '--audit-log-truncate-max-event-size=2000',
      '--audit-log-truncate-max-batch-size=20000',
    ],
    files: { 'policy.json': policyOf({ rules: [{ level: 'RequestResponse' }] }) },
  },
  'audit-strict': {
    flags: [
      '--audit-policy-file=${dir}/policy.json',
      '--audit-log-path=${dir}/audit.log',
      '--audit-log-mode=blocking-strict',
      '--audit-webhook-config-file=${dir}/audit-hook.json',
      '--audit-webhook-mode=blocking',
    ],
    files: {
      'policy.json': policyOf({ rules: [{ level: 'Request' }] }),
      'audit-hook.json': hookConfig('audit'),
    },
  },
}
