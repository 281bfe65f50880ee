/** The metrics of authorizers, by their type and name. */
import type { Counter, Metrics } from '../lib/metrics.ts'

export class AuthorizationMetrics {
  /** Of decisions that end the chain. */
  readonly decisions: Counter

  constructor(metrics: Metrics) {
    this.decisions = metrics.counter({
      name: 'apiserver_authorization_decisions_total',
      help: 'Decisions that ended the chain of authorizers, by the type and the name of the authorizer.',
      labels: ['decision', 'name', 'type'],
    })
  }
}
