/**
 * Metrics of match conditions. As in kube-apiserver, nothing is recorded when all conditions are
 * true.
 */
import type { Counter, Histogram, Metrics } from '../../lib/telemetry/metrics.ts'
import type { Attributes } from '../admission.ts'
import { allOperations } from '../handled-operations.ts'

/** Bucket bounds in seconds, as in kube-apiserver. */
const bounds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25]
const labels = ['kind', 'name', 'operation', 'type']

/**
 * The result of evaluating a policy's match conditions, if not all of them are true. `errors` is
 * the number of conditions that could not be evaluated.
 */
export type UnmatchedPolicy = {
  readonly policy: string
  readonly operation: Attributes['operation']
  readonly seconds: number
  readonly errors: number
}

/**
 * The result of evaluating a webhook's match conditions, if not all of them are true. The values of
 * `type` are those of kube-apiserver's label.
 */
export type UnmatchedWebhook = Omit<UnmatchedPolicy, 'policy'> & {
  readonly webhook: string
  readonly type: 'admit' | 'validating'
  /**
   * Whether the webhook is skipped. If it is not skipped, an error in a condition rejects the
   * request.
   */
  readonly isExcluded: boolean
}

export class ConditionMetrics {
  readonly #errors: Counter
  readonly #exclusions: Counter
  readonly #seconds: Histogram

  constructor(metrics: Metrics) {
    this.#errors = metrics.counter({
      name: 'apiserver_admission_match_condition_evaluation_errors_total',
      help: 'Number of match conditions of admission policies and webhooks that could not be evaluated.',
      labels,
    })
    this.#exclusions = metrics.counter({
      name: 'apiserver_admission_match_condition_exclusions_total',
      help: 'Number of requests for which a webhook was skipped because of its match conditions.',
      labels,
    })
    this.#seconds = metrics.histogram(
      {
        name: 'apiserver_admission_match_condition_evaluation_seconds',
        help: 'Time in seconds to evaluate the match conditions of an admission policy or webhook. Evaluations in which all conditions are true are not included.',
        labels,
      },
      bounds,
    )
  }

  /**
   * Records the evaluation of a policy's conditions. As in kube-apiserver, the type label is
   * `validate` even for mutating policies.
   */
  observePolicy({ policy, operation, seconds, errors }: UnmatchedPolicy): void {
    this.#seconds.with('policy', policy, operation, 'validate').observe(seconds)
    if (errors > 0) this.#errors.with('policy', policy, operation, 'validate').add(errors)
  }

  observeWebhook({
    webhook,
    type,
    operation,
    seconds,
    errors,
    isExcluded,
  }: UnmatchedWebhook): void {
    this.#seconds.with('webhook', webhook, operation, type).observe(seconds)
    if (errors > 0) this.#errors.with('webhook', webhook, operation, type).add(errors)
    if (isExcluded) this.#exclusions.with('webhook', webhook, operation, stepOf(type)).add()
  }

  /**
   * Removes the series of a webhook. Called when the last configuration of this type that contained
   * the webhook was changed or deleted.
   */
  forgetWebhook(webhook: string, type: UnmatchedWebhook['type']): void {
    for (const operation of allOperations) {
      this.#errors.remove('webhook', webhook, operation, type)
      this.#seconds.remove('webhook', webhook, operation, type)
      this.#exclusions.remove('webhook', webhook, operation, stepOf(type))
    }
  }

  /** Removes the series of a policy when one of its bindings is removed or changed. */
  forgetPolicy(policy: string): void {
    for (const operation of allOperations) {
      this.#errors.remove('policy', policy, operation, 'validate')
      this.#seconds.remove('policy', policy, operation, 'validate')
    }
  }
}

/**
 * Returns the type label for the metric that counts skipped requests. For validating webhooks, this
 * metric has the label `validate`, and the other metrics have `validating`.
 */
const stepOf = (type: UnmatchedWebhook['type']): string =>
  type === 'validating' ? 'validate' : type
