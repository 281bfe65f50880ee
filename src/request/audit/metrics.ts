/** Metrics of the audit log, with kube-apiserver's metric names. */
import type { AuditLevel } from '../../config/files/audit-policy.ts'
import type { Count, Metrics } from '../../lib/telemetry/metrics.ts'

/** Components that can lose events. */
export type AuditPlugin = 'log' | 'webhook' | 'buffered' | 'truncate'

export type AuditMetrics = {
  readonly events: Count
  readonly rejected: Count
  readonly levels: { readonly [level in AuditLevel]: Count }
  readonly errors: (plugin: AuditPlugin) => Count
}

export function addAuditMetrics(metrics: Metrics): AuditMetrics {
  const events = metrics.counter({
    name: 'apiserver_audit_event_total',
    help: 'Number of audit events passed to the backends.',
  })
  const rejected = metrics.counter({
    name: 'apiserver_audit_requests_rejected_total',
    help: 'Number of requests that failed because their audit event could not be stored.',
  })
  const levels = metrics.counter({
    name: 'apiserver_audit_level_total',
    help: 'Number of requests, by the audit level that the policy assigns to them.',
    labels: ['level'],
  })
  const errors = metrics.counter({
    name: 'apiserver_audit_error_total',
    help: 'Number of audit events lost, by the component that lost them.',
    labels: ['plugin'],
  })
  return {
    events: events.with(),
    rejected: rejected.with(),
    levels: {
      None: levels.with('None'),
      Metadata: levels.with('Metadata'),
      Request: levels.with('Request'),
      RequestResponse: levels.with('RequestResponse'),
    },
    errors: (plugin) => errors.with(plugin),
  }
}
