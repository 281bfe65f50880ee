/**
 * Metrics of API Priority and Fairness, with kube-apiserver's metric names. The series of a flow
 * schema or priority level are looked up only once.
 */
import type { Count, Metrics } from '../../lib/telemetry/metrics.ts'
import { FlowSchemaMetrics } from './flow-schema-metrics.ts'
import { PriorityLevelMetrics } from './priority-level-metrics.ts'
import { TimeRatio } from '../../lib/telemetry/time-ratio.ts'

const kindBounds = [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]

export type RequestKind = 'mutating' | 'readOnly'

/** Metric series of one kind of request: reads or writes. */
export type KindSeries = {
  waiting: number
  executing: number
  readonly waitingTime: TimeRatio
  readonly executingTime: TimeRatio
}

export class FlowMetrics {
  readonly flows: FlowSchemaMetrics
  readonly levels: PriorityLevelMetrics
  readonly kinds: { readonly [kind in RequestKind]: KindSeries }
  readonly fairFraction: Count

  constructor(metrics: Metrics, nowMs: number) {
    this.flows = new FlowSchemaMetrics(metrics)
    this.levels = new PriorityLevelMetrics(metrics)
    const byKind = metrics.histogram(
      {
        name: 'apiserver_flowcontrol_read_vs_write_current_requests',
        help: 'Number of read or write requests as a fraction of their maximum number, observed once per nanosecond.',
        labels: ['phase', 'request_kind'],
      },
      kindBounds,
    )
    const kind = (name: RequestKind): KindSeries => ({
      waiting: 0,
      executing: 0,
      waitingTime: new TimeRatio(byKind.with('waiting', name), { bounds: kindBounds, nowMs }),
      executingTime: new TimeRatio(byKind.with('executing', name), { bounds: kindBounds, nowMs }),
    })
    this.kinds = { mutating: kind('mutating'), readOnly: kind('readOnly') }
    this.fairFraction = metrics
      .gauge({
        name: 'apiserver_flowcontrol_seat_fair_frac',
        help: 'Fraction of its target number of seats that each priority level got when seats were last divided, before its minimum and maximum were applied.',
      })
      .with()
  }
}
