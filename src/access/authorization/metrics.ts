/** Metrics of authorizers, by type and name of the authorizer. */
import type { AccessDecision } from '../../api/access.ts'
import type {
  Count,
  Counter,
  Distribution,
  Histogram,
  Metrics,
} from '../../lib/telemetry/metrics.ts'

/**
 * Bounds of the histogram buckets for webhook calls, in seconds: the defaults of Prometheus client
 * libraries.
 */
const callBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/**
 * Bounds of the histogram buckets for decisions, in seconds, from one millisecond to 16 seconds.
 */
const attemptBounds = Array.from({ length: 15 }, (_, at) => 0.001 * 2 ** at)
/**
 * Bounds of the histogram buckets for changes to the node graph, in seconds, from 0.1 ms to 0.2 s.
 */
const graphBounds = Array.from({ length: 12 }, (_, at) => 0.0001 * 2 ** at)
/** Bounds of the histogram buckets for match conditions, in seconds, as in kube-apiserver. */
const conditionBounds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25]

type AttemptSeries = { readonly attempts: Count; readonly seconds: Distribution }

export class AuthorizationMetrics {
  /**
   * Durations of changes to the node authorizer's graph. The label is kube-apiserver's name for the
   * operation, such as `AddPod`.
   */
  readonly graphSeconds: Histogram
  /** Counts final decisions (allowed or denied). */
  readonly decisions: Counter
  readonly webhooks: WebhookMetrics
  readonly matchConditions: MatchConditionMetrics

  readonly #attempts: {
    readonly [result in 'allowed' | 'denied' | 'no-opinion' | 'error']: AttemptSeries
  }

  constructor(metrics: Metrics) {
    const attempts = metrics.counter({
      name: 'authorization_attempts_total',
      help: 'Number of authorization attempts, by result.',
      labels: ['result'],
    })
    const seconds = metrics.histogram(
      {
        name: 'authorization_duration_seconds',
        help: 'Duration of authorization in seconds, by result.',
        labels: ['result'],
      },
      attemptBounds,
    )
    const series = (result: string): AttemptSeries => ({
      attempts: attempts.with(result),
      seconds: seconds.with(result),
    })
    this.#attempts = {
      allowed: series('allowed'),
      denied: series('denied'),
      'no-opinion': series('no-opinion'),
      error: series('error'),
    }
    this.graphSeconds = metrics.histogram(
      {
        name: 'node_authorizer_graph_actions_duration_seconds',
        help: 'Duration in seconds of changes to the graph of the node authorizer, by operation.',
        labels: ['operation'],
      },
      graphBounds,
    )
    this.decisions = metrics.counter({
      name: 'apiserver_authorization_decisions_total',
      help: 'Number of final decisions (allowed or denied), by type and name of the authorizer.',
      labels: ['decision', 'name', 'type'],
    })
    this.webhooks = new WebhookMetrics(metrics)
    this.matchConditions = new MatchConditionMetrics(metrics)
  }

  /** Records the result and the duration of the decision on a request. */
  decided({ verdict, error }: AccessDecision, ms: number): void {
    const result =
      verdict === 'allow'
        ? 'allowed'
        : error !== undefined
          ? 'error'
          : verdict === 'deny'
            ? 'denied'
            : verdict
    const { attempts, seconds } = this.#attempts[result]
    attempts.add()
    seconds.observe(ms / 1000)
  }
}

/** Metrics of calls to authorization webhooks. */
class WebhookMetrics {
  readonly calls: Counter
  readonly seconds: Histogram
  readonly failOpen: Counter

  constructor(metrics: Metrics) {
    const labels = ['name', 'result']
    this.calls = metrics.counter({
      name: 'apiserver_authorization_webhook_evaluations_total',
      help: 'Number of calls to authorization webhooks, by result.',
      labels,
    })
    this.seconds = metrics.histogram(
      {
        name: 'apiserver_authorization_webhook_duration_seconds',
        help: 'Duration of calls to authorization webhooks in seconds, by result.',
        labels,
      },
      callBounds,
    )
    this.failOpen = metrics.counter({
      name: 'apiserver_authorization_webhook_evaluations_fail_open_total',
      help: 'Number of requests for which an authorization webhook failed, and had no opinion because of its failure policy.',
      labels,
    })
  }
}

/** Metrics of match conditions, which decide whether a webhook is called. */
class MatchConditionMetrics {
  readonly errors: Counter
  readonly exclusions: Counter
  readonly seconds: Histogram

  constructor(metrics: Metrics) {
    const labels = ['name', 'type']
    this.errors = metrics.counter({
      name: 'apiserver_authorization_match_condition_evaluation_errors_total',
      help: 'Number of requests for which the match conditions of an authorization webhook could not be evaluated.',
      labels,
    })
    this.exclusions = metrics.counter({
      name: 'apiserver_authorization_match_condition_exclusions_total',
      help: 'Number of requests for which an authorization webhook was skipped because of its match conditions.',
      labels,
    })
    this.seconds = metrics.histogram(
      {
        name: 'apiserver_authorization_match_condition_evaluation_seconds',
        help: 'Time in seconds to evaluate the match conditions of an authorization webhook.',
        labels,
      },
      conditionBounds,
    )
  }
}
