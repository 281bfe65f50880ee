/** Audit flags. Their names and defaults are those of kube-apiserver. */
import type { Flag } from './flag.ts'

const auditing = 'Auditing'

export const auditFlags = {
  'audit-policy-file': {
    section: auditing,
    type: 'file',
    help: 'Policy file (audit.k8s.io/v1), which defines which requests are recorded, and at which level. If the flag is not set, no requests are recorded.',
  },
  'audit-log-batch-buffer-size': {
    section: auditing,
    type: 'integer',
    default: '10000',
    help: 'In batch mode, the maximum number of events that can wait to be written. Further events are dropped.',
  },
  'audit-log-batch-max-size': {
    section: auditing,
    type: 'integer',
    default: '1',
    help: 'In batch mode, the maximum number of events in a batch.',
  },
  'audit-log-batch-max-wait': {
    section: auditing,
    type: 'duration',
    default: '0s',
    help: 'In batch mode, the maximum time to wait for more events before a batch is written.',
  },
  'audit-log-batch-throttle-burst': {
    section: auditing,
    type: 'integer',
    default: '0',
    help: 'Number of batches that can be written at once after an idle period, if batches are throttled.',
  },
  'audit-log-batch-throttle-enable': {
    section: auditing,
    type: 'boolean',
    default: 'false',
    help: 'In batch mode, whether to limit the number of batches per second.',
  },
  'audit-log-batch-throttle-qps': {
    section: auditing,
    type: 'float',
    default: '0',
    help: 'Average number of batches per second, if batches are throttled.',
  },
  'audit-log-compress': {
    section: auditing,
    type: 'boolean',
    default: 'false',
    help: 'Whether to compress rotated log files with gzip.',
  },
  'audit-log-format': {
    section: auditing,
    type: 'string',
    default: 'json',
    choices: ['json', 'legacy'],
    help: 'Format of the log: json, or legacy, which is one line of text with fewer details per event.',
  },
  'audit-log-maxage': {
    section: auditing,
    type: 'integer',
    default: '0',
    help: 'Number of days for which rotated log files are kept. 0 means forever.',
  },
  'audit-log-maxbackup': {
    section: auditing,
    type: 'integer',
    default: '0',
    help: 'Number of rotated log files to keep. 0 means all of them.',
  },
  'audit-log-maxsize': {
    section: auditing,
    type: 'integer',
    default: '0',
    help: 'Maximum size of a log file in megabytes. A larger file is rotated. 0 means 100.',
  },
  'audit-log-mode': {
    section: auditing,
    type: 'string',
    default: 'blocking',
    choices: ['batch', 'blocking', 'blocking-strict'],
    help: 'Whether requests wait until their audit events are written. blocking: requests wait. blocking-strict: requests wait, and fail if their events cannot be written. batch: requests do not wait.',
  },
  'audit-log-path': {
    section: auditing,
    type: 'file',
    help: 'File to which audit events are written, one per line. - means standard output.',
  },
  'audit-log-truncate-enabled': {
    section: auditing,
    type: 'boolean',
    default: 'false',
    help: 'Whether to remove the request and response objects from events that are too large.',
  },
  'audit-log-truncate-max-batch-size': {
    section: auditing,
    type: 'integer',
    default: '10485760',
    help: 'Maximum size of a batch in bytes, if truncation is enabled. Larger batches are split.',
  },
  'audit-log-truncate-max-event-size': {
    section: auditing,
    type: 'integer',
    default: '102400',
    help: 'Maximum size of an event in bytes, if truncation is enabled. Larger events lose their request and response objects. Events that are still too large are dropped.',
  },
  'audit-log-version': {
    section: auditing,
    type: 'string',
    default: 'audit.k8s.io/v1',
    help: 'API version of the events that are written. Only audit.k8s.io/v1 is supported.',
  },
  'audit-webhook-batch-buffer-size': {
    section: auditing,
    type: 'integer',
    default: '10000',
    help: 'In batch mode, the maximum number of events that can wait to be sent. Further events are dropped.',
  },
  'audit-webhook-batch-initial-backoff': {
    section: auditing,
    type: 'duration',
    help: 'Former name of --audit-webhook-initial-backoff. If both flags are set, the value that comes last on the command line is used.',
  },
  'audit-webhook-batch-max-size': {
    section: auditing,
    type: 'integer',
    default: '400',
    help: 'In batch mode, the maximum number of events in a batch.',
  },
  'audit-webhook-batch-max-wait': {
    section: auditing,
    type: 'duration',
    default: '30s',
    help: 'In batch mode, the maximum time to wait for more events before a batch is sent.',
  },
  'audit-webhook-batch-throttle-burst': {
    section: auditing,
    type: 'integer',
    default: '15',
    help: 'Number of batches that can be sent at once after an idle period, if batches are throttled.',
  },
  'audit-webhook-batch-throttle-enable': {
    section: auditing,
    type: 'boolean',
    default: 'true',
    help: 'In batch mode, whether to limit the number of batches per second.',
  },
  'audit-webhook-batch-throttle-qps': {
    section: auditing,
    type: 'float',
    default: '10',
    help: 'Average number of batches per second, if batches are throttled.',
  },
  'audit-webhook-config-file': {
    section: auditing,
    type: 'file',
    help: 'Kubeconfig file that specifies the server to which audit events are sent.',
  },
  'audit-webhook-initial-backoff': {
    section: auditing,
    type: 'duration',
    default: '10s',
    help: 'Time to wait after the first failure before events are sent again.',
  },
  'audit-webhook-mode': {
    section: auditing,
    type: 'string',
    default: 'batch',
    choices: ['batch', 'blocking', 'blocking-strict'],
    help: 'Whether requests wait until their audit events are sent. blocking: requests wait. blocking-strict: requests wait, and fail if their events cannot be sent. batch: requests do not wait.',
  },
  'audit-webhook-truncate-enabled': {
    section: auditing,
    type: 'boolean',
    default: 'false',
    help: 'Whether to remove the request and response objects from events that are too large.',
  },
  'audit-webhook-truncate-max-batch-size': {
    section: auditing,
    type: 'integer',
    default: '10485760',
    help: 'Maximum size of a batch in bytes, if truncation is enabled. Larger batches are split.',
  },
  'audit-webhook-truncate-max-event-size': {
    section: auditing,
    type: 'integer',
    default: '102400',
    help: 'Maximum size of an event in bytes, if truncation is enabled. Larger events lose their request and response objects. Events that are still too large are dropped.',
  },
  'audit-webhook-version': {
    section: auditing,
    type: 'string',
    default: 'audit.k8s.io/v1',
    help: 'API version of the events that are sent. Only audit.k8s.io/v1 is supported.',
  },
} as const satisfies { readonly [name: string]: Flag }
