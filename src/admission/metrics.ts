/** Metrics of admission: the duration of each step and each plugin. */
import type { Distribution, Histogram, Metrics, Summary } from '../lib/telemetry/metrics.ts'
import type { StepType } from './handled-operations.ts'

/** Bucket bounds in seconds, as in kube-apiserver. */
const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5]
/** The summary covers the last five hours, as in kube-apiserver. */
const SUMMARY_MS = 5 * 3_600_000

/**
 * Counts the requests for a resource that some plugins do not handle. As in kube-apiserver, each of
 * these plugins counts the request. A single addition is enough for all of them.
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
  /**
   * Counters by operation, step (mutating or validating), and plugins that do not handle the
   * resource. Most custom resources are handled by the same plugins and share a counter, so this
   * map does not grow with their number.
   */
  readonly #idle = new Map<string, Idle>()

  constructor(metrics: Metrics, monotonicMs: () => number) {
    this.#plugins = metrics.histogram(
      {
        name: 'apiserver_admission_controller_admission_duration_seconds',
        help: 'Duration of each admission plugin in seconds.',
        stability: 'STABLE',
        labels: ['name', 'operation', 'rejected', 'type'],
      },
      bounds,
    )
    this.#steps = metrics.histogram(
      {
        name: 'apiserver_admission_step_admission_duration_seconds',
        help: 'Time in seconds that all mutating plugins (admit) or all validating plugins (validate) took for a request.',
        stability: 'STABLE',
        labels: ['operation', 'rejected', 'type'],
      },
      bounds,
    )
    this.#summary = metrics.summary({
      name: 'apiserver_admission_step_admission_duration_seconds_summary',
      help: 'Quantiles of the time in seconds that all mutating plugins (admit) or all validating plugins (validate) took for a request, over the last five hours.',
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
