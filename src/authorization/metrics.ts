/** The metrics of authorizers, by their type and name. */
import type { Counter, Histogram, Metrics } from '../lib/metrics.ts'

/** In seconds: the default ones of Prometheus' clients, and upstream's for conditions. */
const callBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const conditionBounds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25]

export class AuthorizationMetrics {
  /** Of decisions that end the chain. */
  readonly decisions: Counter
  readonly webhookCalls: Counter
  readonly webhookSeconds: Histogram
  readonly webhookFailOpen: Counter
  readonly conditionErrors: Counter
  readonly conditionExclusions: Counter
  readonly conditionSeconds: Histogram

  constructor(metrics: Metrics) {
    this.decisions = metrics.counter({
      name: 'apiserver_authorization_decisions_total',
      help: 'Decisions that ended the chain of authorizers, by the type and the name of the authorizer.',
      labels: ['decision', 'name', 'type'],
    })
    const ofCall = ['name', 'result']
    this.webhookCalls = metrics.counter({
      name: 'apiserver_authorization_webhook_evaluations_total',
      help: 'Calls of authorization webhooks.',
      labels: ofCall,
    })
    this.webhookSeconds = metrics.histogram(
      {
        name: 'apiserver_authorization_webhook_duration_seconds',
        help: 'How long calls of authorization webhooks took.',
        labels: ofCall,
      },
      callBounds,
    )
    this.webhookFailOpen = metrics.counter({
      name: 'apiserver_authorization_webhook_evaluations_fail_open_total',
      help: 'Requests on which an authorization webhook had no opinion because it could not be asked.',
      labels: ofCall,
    })
    const ofAuthorizer = ['name', 'type']
    this.conditionErrors = metrics.counter({
      name: 'apiserver_authorization_match_condition_evaluation_errors_total',
      help: 'Requests on which match conditions of a webhook failed.',
      labels: ofAuthorizer,
    })
    this.conditionExclusions = metrics.counter({
      name: 'apiserver_authorization_match_condition_exclusions_total',
      help: 'Requests that match conditions kept from a webhook.',
      labels: ofAuthorizer,
    })
    this.conditionSeconds = metrics.histogram(
      {
        name: 'apiserver_authorization_match_condition_evaluation_seconds',
        help: 'How long match conditions of a webhook took.',
        labels: ofAuthorizer,
      },
      conditionBounds,
    )
  }
}
