/** The flags of auditing. Names and defaults are kube-apiserver's. */
import type { Flag } from './flag.ts'

const auditing = 'Auditing'

export const auditFlags = {
  'audit-policy-file': {
    section: auditing,
    type: 'string',
    help: 'Which requests are recorded, and at which level: a file with a Policy of audit.k8s.io/v1. Without it nothing is.',
  },
  'audit-log-batch-buffer-size': {
    section: auditing,
    type: 'integer',
    default: '10000',
    help: 'In mode batch: how many events may wait; further ones are lost.',
  },
  'audit-log-batch-max-size': {
    section: auditing,
    type: 'integer',
    default: '1',
    help: 'In mode batch: how many events are written at once, at most.',
  },
  'audit-log-batch-max-wait': {
    section: auditing,
    type: 'duration',
    default: '0s',
    help: 'In mode batch: how long an event waits for others to be written with.',
  },
  'audit-log-batch-throttle-burst': {
    section: auditing,
    type: 'integer',
    default: '0',
    help: 'How many batches at once after a quiet time.',
  },
  'audit-log-batch-throttle-enable': {
    section: auditing,
    type: 'boolean',
    default: 'false',
    help: 'In mode batch: whether the number of batches a second is limited.',
  },
  'audit-log-batch-throttle-qps': {
    section: auditing,
    type: 'float',
    default: '0',
    help: 'How many batches a second, on average.',
  },
  'audit-log-compress': {
    section: auditing,
    type: 'boolean',
    default: 'false',
    help: 'Whether renamed logs are compressed, by gzip.',
  },
  'audit-log-format': {
    section: auditing,
    type: 'string',
    default: 'json',
    help: 'json, or legacy: a line of text with less in it.',
  },
  'audit-log-maxage': {
    section: auditing,
    type: 'integer',
    default: '0',
    help: 'How many days renamed logs are kept. 0: for ever.',
  },
  'audit-log-maxbackup': {
    section: auditing,
    type: 'integer',
    default: '0',
    help: 'How many renamed logs are kept. 0: any number.',
  },
  'audit-log-maxsize': {
    section: auditing,
    type: 'integer',
    default: '0',
    help: 'How many megabytes the log may have before it is renamed and a new one begun. 0: 100.',
  },
  'audit-log-mode': {
    section: auditing,
    type: 'string',
    default: 'blocking',
    help: 'blocking: a request waits until its events are written. blocking-strict: it fails if they cannot be. batch: no request waits.',
  },
  'audit-log-path': {
    section: auditing,
    type: 'string',
    help: 'The file that audit events are written to, one on each line. -: standard output.',
  },
  'audit-log-truncate-enabled': {
    section: auditing,
    type: 'boolean',
    default: 'false',
    help: 'Whether events that are too large lose the objects in them.',
  },
  'audit-log-truncate-max-batch-size': {
    section: auditing,
    type: 'integer',
    default: '10485760',
    help: 'The bytes of a batch, at most; larger ones are divided.',
  },
  'audit-log-truncate-max-event-size': {
    section: auditing,
    type: 'integer',
    default: '102400',
    help: 'The bytes of an event beyond which it loses the objects in it, and is lost if it is still too large.',
  },
  'audit-log-version': {
    section: auditing,
    type: 'string',
    default: 'audit.k8s.io/v1',
    help: 'The version of the events in the log: audit.k8s.io/v1.',
  },
  'audit-webhook-batch-buffer-size': {
    section: auditing,
    type: 'integer',
    default: '10000',
    help: 'In mode batch: how many events may wait; further ones are lost.',
  },
  'audit-webhook-batch-initial-backoff': {
    section: auditing,
    type: 'duration',
    help: 'The old name of --audit-webhook-initial-backoff.',
  },
  'audit-webhook-batch-max-size': {
    section: auditing,
    type: 'integer',
    default: '400',
    help: 'In mode batch: how many events are sent at once, at most.',
  },
  'audit-webhook-batch-max-wait': {
    section: auditing,
    type: 'duration',
    default: '30s',
    help: 'In mode batch: how long an event waits for others to be sent with.',
  },
  'audit-webhook-batch-throttle-burst': {
    section: auditing,
    type: 'integer',
    default: '15',
    help: 'How many batches at once after a quiet time.',
  },
  'audit-webhook-batch-throttle-enable': {
    section: auditing,
    type: 'boolean',
    default: 'true',
    help: 'In mode batch: whether the number of batches a second is limited.',
  },
  'audit-webhook-batch-throttle-qps': {
    section: auditing,
    type: 'float',
    default: '10',
    help: 'How many batches a second, on average.',
  },
  'audit-webhook-config-file': {
    section: auditing,
    type: 'string',
    help: 'Where audit events are sent to: a kubeconfig.',
  },
  'audit-webhook-initial-backoff': {
    section: auditing,
    type: 'duration',
    default: '10s',
    help: 'How long to wait after the first failure before events are sent again.',
  },
  'audit-webhook-mode': {
    section: auditing,
    type: 'string',
    default: 'batch',
    help: 'blocking: a request waits until its events are sent. blocking-strict: it fails if they cannot be. batch: no request waits.',
  },
  'audit-webhook-truncate-enabled': {
    section: auditing,
    type: 'boolean',
    default: 'false',
    help: 'Whether events that are too large lose the objects in them.',
  },
  'audit-webhook-truncate-max-batch-size': {
    section: auditing,
    type: 'integer',
    default: '10485760',
    help: 'The bytes of a batch, at most; larger ones are divided.',
  },
  'audit-webhook-truncate-max-event-size': {
    section: auditing,
    type: 'integer',
    default: '102400',
    help: 'The bytes of an event beyond which it loses the objects in it, and is lost if it is still too large.',
  },
  'audit-webhook-version': {
    section: auditing,
    type: 'string',
    default: 'audit.k8s.io/v1',
    help: 'The version of the events that are sent: audit.k8s.io/v1.',
  },
} as const satisfies { readonly [name: string]: Flag }
