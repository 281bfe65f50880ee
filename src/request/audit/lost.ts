/** Counts and logs audit events that could not be stored, so that every loss is visible. */
import type { Log } from '../../lib/telemetry/log.ts'
import type { AuditEvent } from './event.ts'
import type { AuditMetrics, AuditPlugin } from './metrics.ts'

export type LostEvent = Pick<AuditEvent, 'json' | 'line'>

export type ReportLost = (plugin: AuditPlugin, events: readonly LostEvent[], why: string) => void

export const createReportLost =
  (metrics: AuditMetrics, log: Log): ReportLost =>
  (plugin, events, why) => {
    metrics.errors(plugin).value += events.length
    for (const event of events)
      log('error', 'an audit event was lost', { plugin, why, event: event.line() })
  }
