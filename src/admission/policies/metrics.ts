/**
 * The metrics of validations that failed, by policy and binding. Validations that hold are not
 * counted, as upstream.
 */
import type { Counter, Histogram, Metrics } from '../../lib/telemetry/metrics.ts'

/** In seconds: upstream's. */
const bounds = [0.0000005, 0.001, 0.01, 0.1, 1]
const labels = ['enforcement_action', 'error_type', 'policy', 'policy_binding']
const actions = ['allow', 'deny', 'warn', 'audit'] as const
const errorTypes = ['invalid_error', 'out_of_budget', 'compile_error'] as const

/** `allow`: an error that the policy ignores. */
export type CheckAction = (typeof actions)[number]
export type CheckError = (typeof errorTypes)[number]

export type Check = {
  readonly policy: string
  readonly binding: string
  readonly error: CheckError
  readonly seconds: number
}

export class PolicyMetrics {
  readonly #checks: Counter
  readonly #seconds: Histogram

  constructor(metrics: Metrics) {
    const stability = 'BETA'
    this.#checks = metrics.counter({
      name: 'apiserver_validating_admission_policy_check_total',
      help: 'Validations of admission policies that failed, by policy, binding and what was done.',
      stability,
      labels,
    })
    this.#seconds = metrics.histogram(
      {
        name: 'apiserver_validating_admission_policy_check_duration_seconds',
        help: 'How long the expressions of validations that failed took, by policy, binding and what was done.',
        stability,
        labels,
      },
      bounds,
    )
  }

  count(action: CheckAction, { policy, binding, error, seconds }: Check): void {
    this.#checks.with(action, error, policy, binding).add()
    this.#seconds.with(action, error, policy, binding).observe(seconds)
  }

  /** The binding no longer exists, or is one of another policy. */
  forget(policy: string, binding: string): void {
    for (const action of actions) {
      for (const error of errorTypes) {
        this.#checks.remove(action, error, policy, binding)
        this.#seconds.remove(action, error, policy, binding)
      }
    }
  }
}
