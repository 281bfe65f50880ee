/**
 * Audit policy that chooses the level by the user's groups, so that one server shows every level.
 * Scenarios use client certificates with these groups.
 */
import type { SetUps } from '../set-ups.ts'
import { hookConfig } from './access.ts'

/** Audit rules. Each rule applies to the users of one group. */
const rules = {
  'audit-none': { level: 'None' },
  'audit-metadata': { level: 'Metadata' },
  'audit-request': { level: 'Request' },
  'audit-response': { level: 'RequestResponse' },
  'audit-response-bare': { level: 'RequestResponse', omitManagedFields: true },
  'audit-complete-only': { level: 'Metadata', omitStages: ['RequestReceived', 'ResponseStarted'] },
  'audit-received-only': {
    level: 'Metadata',
    omitStages: ['ResponseStarted', 'ResponseComplete', 'Panic'],
  },
}

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [
    ...Object.entries(rules).map(([group, rule]) => ({ ...rule, userGroups: [group] })),
    { level: 'Metadata', users: ['alice', 'bob', 'system:anonymous'] },
    { level: 'RequestResponse', users: ['admin'] },
    { level: 'Metadata' },
  ],
}

const certificates = '--client-ca-file=${dir}/client-ca.pem'
const withPolicy = ['--audit-policy-file=${dir}/policy.json', certificates]

export const setUps: SetUps = {
  audit: {
    flags: [...withPolicy, '--audit-log-path=${dir}/audit.log'],
    files: { 'policy.json': policy },
  },
  'audit-legacy': {
    flags: [...withPolicy, '--audit-log-path=${dir}/audit.log', '--audit-log-format=legacy'],
    files: { 'policy.json': policy },
  },
  'audit-webhook': {
    flags: [
      ...withPolicy,
      '--audit-webhook-config-file=${dir}/audit-hook.json',
      '--audit-webhook-batch-max-wait=100ms',
      '--audit-webhook-truncate-enabled=true',
      '--audit-webhook-truncate-max-event-size=4000',
      '--audit-webhook-truncate-max-batch-size=40000',
    ],
    files: { 'policy.json': policy, 'audit-hook.json': hookConfig('audit') },
  },
}
