/** The metrics of match conditions. Those that all hold are not observed, as upstream. */
import type { Counter, Histogram, Metrics } from '../../lib/telemetry/metrics.ts'
import type { Attributes } from '../admission.ts'
import { allOperations } from '../handled-operations.ts'

/** In seconds: upstream's. */
const bounds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25]
const labels = ['kind', 'name', 'operation', 'type']

/** `errors`: how many conditions could not be evaluated. */
export type UnmatchedPolicy = {
  readonly policy: string
  readonly operation: Attributes['operation']
  readonly seconds: number
  readonly errors: number
}

/** `type`: upstream's word for it. */
export type UnmatchedWebhook = Omit<UnmatchedPolicy, 'policy'> & {
  readonly webhook: string
  readonly type: 'admit' | 'validating'
  /** The webhook is not asked; otherwise the request is refused. */
  readonly isExcluded: boolean
}

export class ConditionMetrics {
  readonly #errors: Counter
  readonly #exclusions: Counter
  readonly #seconds: Histogram

  constructor(metrics: Metrics) {
    this.#errors = metrics.counter({
      name: 'apiserver_admission_match_condition_evaluation_errors_total',
      help: 'Match conditions of admission that could not be evaluated, by the policy or webhook that has them.',
      labels,
    })
    this.#exclusions = metrics.counter({
      name: 'apiserver_admission_match_condition_exclusions_total',
      help: 'Requests that webhooks were not asked about, because of their match conditions.',
      labels,
    })
    this.#seconds = metrics.histogram(
      {
        name: 'apiserver_admission_match_condition_evaluation_seconds',
        help: 'How long match conditions of admission took that did not all hold, by the policy or webhook that has them.',
        labels,
      },
      bounds,
    )
  }

  /** Upstream gives the type `validate` to mutating policies, too. */
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

  /** No configuration of this type has such a webhook any more. */
  forgetWebhook(webhook: string, type: UnmatchedWebhook['type']): void {
    for (const operation of allOperations) {
      this.#errors.remove('webhook', webhook, operation, type)
      this.#seconds.remove('webhook', webhook, operation, type)
      this.#exclusions.remove('webhook', webhook, operation, stepOf(type))
    }
  }

  /** The policy is no longer bound, or bound otherwise. */
  forgetPolicy(policy: string): void {
    for (const operation of allOperations) {
      this.#errors.remove('policy', policy, operation, 'validate')
      this.#seconds.remove('policy', policy, operation, 'validate')
    }
  }
}

/** The series of exclusions alone have another word for validating webhooks. */
const stepOf = (type: UnmatchedWebhook['type']): string =>
  type === 'validating' ? 'validate' : type
