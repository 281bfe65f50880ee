/** Metrics of connections through egress proxies, with kube-apiserver's names and buckets. */
import type { EgressProxy } from './egress-config.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Counter, Gauge, Histogram, Metrics } from '../../lib/telemetry/metrics.ts'
import type { PacketType } from './packets.ts'

const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 12.5]

const protocols = { 'http-connect': 'http_connect', grpc: 'grpc' } as const

/**
 * The stage at which a dial failed: `connect` if the proxy could not be reached, `proxy` if the
 * proxy did not open the tunnel.
 */
export type DialStage = 'connect' | 'proxy'

/** The reasons why a dial over gRPC can fail, as Konnectivity's client names them. */
export type DialFailureReason =
  | 'unknown'
  | 'timeout'
  | 'context'
  | 'endpoint'
  | 'dialclosed'
  | 'tunnelclosed'

export type TunnelStatus = 'created' | 'dialing' | 'ok' | 'closing'

export type MeasuredDials = {
  /**
   * Counts the start of a dial. When the tunnel is open, the caller must call the returned
   * function.
   */
  readonly start: () => () => void
  readonly failed: (stage: DialStage) => void
}

export class DialerMetrics {
  readonly #clock: Clock
  readonly #starts: Counter
  readonly #durations: Histogram
  readonly #failures: Counter
  readonly #tunnelFailures: Counter
  readonly #packets: Counter
  readonly #tunnels: Gauge

  constructor(metrics: Metrics, clock: Clock) {
    this.#clock = clock
    const labels = ['protocol', 'transport']
    const dialer = 'apiserver_egress_dialer_dial'
    this.#starts = metrics.counter({
      name: `${dialer}_start_total`,
      help: 'Number of connections that were started through a proxy, by protocol (http-connect or grpc) and transport (tcp or uds).',
      stability: 'ALPHA',
      labels,
    })
    this.#durations = metrics.histogram(
      {
        name: `${dialer}_duration_seconds`,
        help: 'Time in seconds to open a connection through a proxy, by protocol (http-connect or grpc) and transport (tcp or uds).',
        stability: 'ALPHA',
        labels,
      },
      DURATION_BUCKETS,
    )
    this.#failures = metrics.counter({
      name: `${dialer}_failure_count`,
      help: 'Number of connections through a proxy that could not be opened, by protocol (http-connect or grpc), transport (tcp or uds) and the stage that failed (connect or proxy).',
      stability: 'ALPHA',
      labels: ['protocol', 'stage', 'transport'],
    })
    const client = 'konnectivity_network_proxy_client'
    this.#tunnelFailures = metrics.counter({
      name: `${client}_dial_failure_total`,
      help: 'Number of failed dials through konnectivity, by reason.',
      labels: ['reason'],
    })
    this.#packets = metrics.counter({
      name: `${client}_stream_packets_total`,
      help: 'Number of packets exchanged with konnectivity, by direction (segment) and packet type.',
      labels: ['packet_type', 'segment'],
    })
    this.#tunnels = metrics.gauge({
      name: `${client}_client_connections`,
      help: 'Number of tunnels through konnectivity, by status.',
      labels: ['status'],
    })
  }

  of({ protocol, transport }: EgressProxy): MeasuredDials {
    const name = protocols[protocol]
    return {
      start: () => {
        const startedMs = this.#clock.monotonicMs()
        this.#starts.with(name, transport).add()
        return () =>
          this.#durations
            .with(name, transport)
            .observe((this.#clock.monotonicMs() - startedMs) / 1000)
      },
      failed: (stage) => this.#failures.with(name, stage, transport).add(),
    }
  }

  tunnelFailed(reason: DialFailureReason): void {
    this.#tunnelFailures.with(reason).add()
  }

  packet(type: PacketType, segment: 'from_client' | 'to_client'): void {
    this.#packets.with(type, segment).add()
  }

  /**
   * Records that the status of a tunnel changed. Without `from`, the tunnel is new. Without `to`,
   * it has ended.
   */
  tunnelMoved(from: TunnelStatus | undefined, to: TunnelStatus | undefined): void {
    if (from !== undefined) this.#tunnels.with(from).add(-1)
    if (to !== undefined) this.#tunnels.with(to).add()
  }
}
