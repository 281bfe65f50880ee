/** Metrics of PodSecurity: decisions by level, exemptions and errors. */
import type { LevelVersion } from '../../api/pod-security-level.ts'
import type { Counter, Metrics } from '../../lib/telemetry/metrics.ts'
import { type Attributes, targetOf } from '../admission.ts'

export type PodSecurityMode = 'enforce' | 'audit' | 'warn'

export class PodSecurityMetrics {
  readonly #evaluations: Counter
  readonly #exemptions: Counter
  readonly #errors: Counter
  readonly #release: number

  /**
   * Creates the metrics. In labels, a Kubernetes version after `release` is reported as `future`.
   */
  constructor(metrics: Metrics, release: number) {
    this.#release = release
    this.#evaluations = metrics.counter({
      name: 'pod_security_evaluations_total',
      help: 'Number of PodSecurity evaluations of pods and pod templates, by level. Exempt requests are not counted.',
      labels: [
        'decision',
        'mode',
        'policy_level',
        'policy_version',
        'request_operation',
        'resource',
        'subresource',
      ],
    })
    this.#exemptions = metrics.counter({
      name: 'pod_security_exemptions_total',
      help: 'Number of requests that were exempt from PodSecurity.',
      labels: ['request_operation', 'resource', 'subresource'],
    })
    this.#errors = metrics.counter({
      name: 'pod_security_errors_total',
      help: 'Number of errors in PodSecurity evaluations, such as labels of a namespace that cannot be parsed.',
      labels: ['fatal', 'request_operation', 'resource', 'subresource'],
    })
    // As in kube-apiserver, the series that most requests use are created at startup.
    for (const operation of ['create', 'update']) {
      this.#evaluations.with('allow', 'enforce', 'privileged', 'latest', operation, 'pod', '')
      for (const resource of ['pod', 'controller']) this.#exemptions.with(operation, resource, '')
    }
  }

  countEvaluation(
    attributes: Attributes,
    mode: PodSecurityMode,
    { level, version }: LevelVersion,
    isAllowed: boolean,
  ): void {
    const isLatest = version === 'latest' || level === 'privileged'
    const shown = isLatest ? 'latest' : version > this.#release ? 'future' : `v1.${version}`
    const decision = isAllowed ? 'allow' : 'deny'
    this.#evaluations.with(decision, mode, level, shown, ...labelsOf(attributes)).add()
  }

  countExemption(attributes: Attributes): void {
    this.#exemptions.with(...labelsOf(attributes)).add()
  }

  /** Counts an error. `isFatal` means that the request could not be evaluated. */
  countError(attributes: Attributes, { isFatal }: { readonly isFatal: boolean }): void {
    this.#errors.with(`${isFatal}`, ...labelsOf(attributes)).add()
  }
}

function labelsOf(attributes: Attributes): readonly [string, string, string] {
  const { operation, subresource } = attributes
  const resource = targetOf(attributes).split('/')[0] === 'pods' ? 'pod' : 'controller'
  return [operation.toLowerCase(), resource, subresource]
}
