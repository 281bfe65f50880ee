/** The metrics of admission: how long each step took, and each plugin. */
import type { Distribution, Histogram, Metrics, Summary } from '../lib/telemetry/metrics.ts'
import type { StepType } from './handled-operations.ts'

/** In seconds: upstream's. */
const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5]
/** Upstream's: the summary is of the last five hours. */
const SUMMARY_MS = 5 * 3_600_000

/**
 * Requests that passed a step in which these plugins had nothing to do: counted by one addition for
 * all of them.
 */
type Idle = {
  readonly names: readonly string[]
  readonly series: readonly Distribution[]
  passes: number
}

export type Label = {
  readonly operation: string
  readonly type: StepType
  readonly isRejected: boolean
}

export class AdmissionMetrics {
  readonly #plugins: Histogram
  readonly #steps: Histogram
  readonly #summary: Summary
  /** There are as many as kinds that plugins tell apart. */
  readonly #idle = new Map<string, Idle>()

  constructor(metrics: Metrics, monotonicMs: () => number) {
    this.#plugins = metrics.histogram(
      {
        name: 'apiserver_admission_controller_admission_duration_seconds',
        help: 'How long admission plugins took.',
        stability: 'STABLE',
        labels: ['name', 'operation', 'rejected', 'type'],
      },
      bounds,
    )
    this.#steps = metrics.histogram(
      {
        name: 'apiserver_admission_step_admission_duration_seconds',
        help: 'How long all mutating plugins took (admit), and all validating ones (validate).',
        stability: 'STABLE',
        labels: ['operation', 'rejected', 'type'],
      },
      bounds,
    )
    this.#summary = metrics.summary({
      name: 'apiserver_admission_step_admission_duration_seconds_summary',
      help: 'The same of the last five hours, as quantiles.',
      labels: ['operation', 'rejected', 'type'],
      spanMs: SUMMARY_MS,
      monotonicMs,
    })
    metrics.onPrint(() => this.#spread())
  }

  plugin(name: string, { operation, type, isRejected }: Label): Distribution {
    return this.#plugins.with(name, operation, `${isRejected}`, type)
  }

  step({ operation, type, isRejected }: Label): { readonly observe: (seconds: number) => void } {
    const histogram = this.#steps.with(operation, `${isRejected}`, type)
    const summary = this.#summary.with(operation, `${isRejected}`, type)
    return {
      observe: (seconds) => {
        histogram.observe(seconds)
        summary.observe(seconds)
      },
    }
  }

  idle(names: readonly string[], label: Label): Idle {
    const key = [label.operation, label.type, ...names].join()
    const known = this.#idle.get(key)
    if (known !== undefined) return known
    const made = { names, series: names.map((name) => this.plugin(name, label)), passes: 0 }
    this.#idle.set(key, made)
    return made
  }

  #spread(): void {
    for (const idle of this.#idle.values()) {
      for (const series of idle.series) series.observeLow(0, idle.passes)
      idle.passes = 0
    }
  }
}
