/**
 * Counts requests for pod logs by whether the kubelet's certificate must be verified. Also counts
 * requests that fail because the verification failed.
 */
import type { Count, Counter, Metrics } from '../../../lib/telemetry/metrics.ts'

const prefix = 'kube_apiserver_pod_logs_'

export class LogMetrics {
  readonly #asked: Counter
  readonly unverified: Count

  constructor(metrics: Metrics) {
    this.#asked = metrics.counter({
      name: `${prefix}insecure_backend_total`,
      help: 'Number of requests for pod logs, by whether the certificate of the kubelet must be verified.',
      labels: ['usage'],
    })
    const help =
      'Number of requests for pod logs that failed because the certificate of the kubelet could not be verified.'
    this.unverified = metrics.counter({ name: `${prefix}backend_tls_failure_total`, help }).with()
  }

  recordRequest(isUnchecked: boolean): void {
    this.#asked.with(isUnchecked ? 'skip_tls_allowed' : 'enforce_tls').add()
  }
}
