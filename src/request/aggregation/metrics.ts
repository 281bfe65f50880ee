/** Metrics of unavailable APIServices, with kube-apiserver's metric names. */
import type { Counter, Gauge, Metrics } from '../../lib/telemetry/metrics.ts'
import type { Condition } from './api-service.ts'

export class AvailabilityMetrics {
  readonly #unavailable: Gauge
  readonly #total: Counter
  /**
   * Reasons why APIServices have become unavailable so far. Each is a value of the label `reason`.
   */
  readonly #reasons = new Set<string>()

  constructor(metrics: Metrics) {
    this.#unavailable = metrics.gauge({
      name: 'aggregator_unavailable_apiservice',
      help: '1 if an APIService is unavailable, 0 otherwise.',
      labels: ['name'],
    })
    this.#total = metrics.counter({
      name: 'aggregator_unavailable_apiservice_total',
      help: 'Number of times that an APIService became unavailable, by reason.',
      labels: ['name', 'reason'],
    })
  }

  /** Records the result of an availability check. */
  seen(name: string, { status }: Condition): void {
    this.#unavailable.with(name).value = status === 'True' ? 0 : 1
  }

  /** Counts that an APIService became unavailable. */
  lost(name: string, { reason }: Condition): void {
    this.#reasons.add(reason)
    this.#total.with(name, reason).add()
  }

  forget(name: string): void {
    this.#unavailable.remove(name)
    for (const reason of this.#reasons) this.#total.remove(name, reason)
  }
}
