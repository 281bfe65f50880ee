/** Metrics for the allocation of cluster IPs and node ports, with kube-apiserver's metric names. */
import { type Cidr, formatCidr, type IpFamily } from '../../api/ip.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Counter, Gauge, Histogram, Metrics } from '../../lib/telemetry/metrics.ts'
import { IpError } from './cluster-ips.ts'

/** Whether the client requested a specific address or port. */
export type Scope = 'static' | 'dynamic'

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const ofIps = 'kube_apiserver_clusterip_allocator_'
const ofPorts = 'kube_apiserver_nodeport_allocator_'

export class AllocatorMetrics {
  readonly #monotonicMs: Clock['monotonicMs']
  readonly #ips: Counter
  readonly #ipErrors: Counter
  readonly #ipSeconds: Histogram
  readonly #ports: Counter
  readonly #portsTaken: Gauge
  readonly #portsFree: Gauge

  constructor(metrics: Metrics, monotonicMs: Clock['monotonicMs']) {
    this.#monotonicMs = monotonicMs
    const labels = ['cidr', 'scope']
    this.#ips = metrics.counter({
      name: `${ofIps}allocation_total`,
      help: 'Number of cluster IPs that the server allocated.',
      labels,
    })
    this.#ipErrors = metrics.counter({
      name: `${ofIps}allocation_errors_total`,
      help: 'Number of cluster IP allocations that failed.',
      labels,
    })
    const seconds = {
      name: `${ofIps}allocation_duration_seconds`,
      help: 'Duration of cluster IP allocations in seconds.',
      labels: ['cidr'],
    }
    this.#ipSeconds = metrics.histogram(seconds, bounds)
    this.#ports = metrics.counter({
      name: `${ofPorts}allocation_total`,
      help: 'Number of node ports that the server allocated.',
      labels: ['scope'],
    })
    this.#portsTaken = metrics.gauge({
      name: `${ofPorts}allocated_ports`,
      help: 'Number of node ports that are currently allocated.',
    })
    this.#portsFree = metrics.gauge({
      name: `${ofPorts}available_ports`,
      help: 'Number of node ports that are currently free.',
    })
  }

  /** Measures an allocation. `range` is the configured range for the IP family of the address. */
  async ip<T>(range: Cidr | undefined, scope: Scope, take: () => Promise<T>): Promise<T> {
    const cidr = range === undefined ? '' : formatCidr(range)
    const startMs = this.#monotonicMs()
    try {
      const taken = await take()
      this.#ips.with(cidr, scope).add()
      this.#ipSeconds.with(cidr).observe((this.#monotonicMs() - startMs) / 1000)
      return taken
    } catch (error) {
      if (error instanceof IpError) this.#ipErrors.with(cidr, scope).add()
      throw error
    }
  }

  ports(scope: Scope, count: number): void {
    if (count > 0) this.#ports.with(scope).add(count)
  }

  portsLeft(taken: number, free: number): void {
    this.#portsTaken.with().value = taken
    this.#portsFree.with().value = free
  }
}

export const rangeOfFamily = (ranges: readonly Cidr[], family: IpFamily): Cidr | undefined =>
  ranges.find((range) => range.family === family)
