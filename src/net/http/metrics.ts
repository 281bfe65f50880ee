/**
 * The metrics of the listener: handshakes, HTTP/2 connections closed because of client errors, open
 * connections and requests.
 */
import type { Count, Counter, Metrics } from '../../lib/telemetry/metrics.ts'

export class ListenerMetrics {
  readonly #handshakes: Counter
  readonly #failed: Count
  readonly #faults: Counter
  readonly #metrics: Metrics

  constructor(metrics: Metrics) {
    this.#metrics = metrics
    this.#failed = metrics
      .counter({
        name: 'apiserver_tls_handshake_errors_total',
        help: 'Number of failed TLS handshakes.',
      })
      .with()
    this.#handshakes = metrics.counter({
      name: 'keelson_tls_handshakes_total',
      help: 'Number of successful TLS handshakes, by negotiated protocol and by whether an earlier session was resumed.',
      labels: ['protocol', 'resumed'],
    })
    this.#faults = metrics.counter({
      name: 'keelson_http2_faults_total',
      help: 'Number of HTTP/2 connections closed because of a client error, by the error code of RFC 9113.',
      labels: ['code'],
    })
  }

  /** Registers the gauges. Must be called once, by the listener. */
  show(listener: { readonly openConnections: number; readonly openRequests: number }): void {
    const connections = this.#metrics.gauge({
      name: 'keelson_open_connections',
      help: 'Number of open client connections.',
    })
    const requests = this.#metrics.gauge({
      name: 'keelson_open_requests',
      help: 'Number of requests whose responses are not complete, including watches.',
    })
    this.#metrics.onPrint(() => {
      connections.with().value = listener.openConnections
      requests.with().value = listener.openRequests
    })
  }

  handshakeFailed(): void {
    this.#failed.value++
  }

  connected(protocol: 'h2' | 'http/1.1', isResumed: boolean): void {
    this.#handshakes.with(protocol, `${isResumed}`).value++
  }

  http2Fault(code: string): void {
    this.#faults.with(code).value++
  }
}
