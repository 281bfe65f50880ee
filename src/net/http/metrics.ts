/** The metrics of connections: handshakes, faults, what is open. */
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
        help: 'TLS handshakes that failed.',
      })
      .with()
    this.#handshakes = metrics.counter({
      name: 'keelson_tls_handshakes_total',
      help: 'TLS handshakes that succeeded, by what is spoken then, and by whether an earlier session was resumed.',
      labels: ['protocol', 'resumed'],
    })
    this.#faults = metrics.counter({
      name: 'keelson_http2_faults_total',
      help: 'HTTP/2 connections that were ended because of what the client sent, by the error code of RFC 9113.',
      labels: ['code'],
    })
  }

  /** To be called once, by the listener. */
  show(listener: { readonly openConnections: number; readonly openRequests: number }): void {
    const connections = this.#metrics.gauge({
      name: 'keelson_open_connections',
      help: 'Connections of clients now.',
    })
    const requests = this.#metrics.gauge({
      name: 'keelson_open_requests',
      help: 'Requests whose answer is not yet sent as a whole, watches among them.',
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
