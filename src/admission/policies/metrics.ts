/**
 * Metrics of failed validations, by policy and binding. As in kube-apiserver, validations that
 * succeed are not counted.
 */
import type { Counter, Histogram, Metrics } from '../../lib/telemetry/metrics.ts'

/** Bucket bounds in seconds, as in kube-apiserver. */
const bounds = [0.0000005, 0.001, 0.01, 0.1, 1]
const labels = ['enforcement_action', 'error_type', 'policy', 'policy_binding']
const actions = ['allow', 'deny', 'warn', 'audit'] as const
const errorTypes = ['invalid_error', 'out_of_budget', 'compile_error'] as const

/**
 * The consequence of a failed validation, as a metric label. `allow` means that the failurePolicy
 * ignores the error.
 */
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
      help: 'Number of failed validations of admission policies, by policy, binding and action.',
      stability,
      labels,
    })
    this.#seconds = metrics.histogram(
      {
        name: 'apiserver_validating_admission_policy_check_duration_seconds',
        help: 'Time in seconds to evaluate the expressions of failed validations, by policy, binding and action.',
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

  /** Removes the series of a binding that was deleted or now belongs to another policy. */
  forget(policy: string, binding: string): void {
    for (const action of actions) {
      for (const error of errorTypes) {
        this.#checks.remove(action, error, policy, binding)
        this.#seconds.remove(action, error, policy, binding)
      }
    }
  }
}
