/**
 * Counts logs of pods by whether the kubelet's certificate is to be verified, and those that failed
 * by it.
 */
import type { Count, Counter, Metrics } from '../../../lib/telemetry/metrics.ts'

const prefix = 'kube_apiserver_pod_logs_'

export class LogMetrics {
  readonly #asked: Counter
  readonly unverified: Count

  constructor(metrics: Metrics) {
    this.#asked = metrics.counter({
      name: `${prefix}insecure_backend_total`,
      help: 'Logs of pods that were asked for, by whether the certificate of the kubelet is to be verified.',
      labels: ['usage'],
    })
    const help =
      'Logs of pods that failed since the certificate of the kubelet could not be verified.'
    this.unverified = metrics.counter({ name: `${prefix}backend_tls_failure_total`, help }).with()
  }

  recordRequest(isUnchecked: boolean): void {
    this.#asked.with(isUnchecked ? 'skip_tls_allowed' : 'enforce_tls').add()
  }
}
