/**
 * Opens connections through a proxy, according to the selections in
 * `--egress-selector-config-file`. Every connection has its own tunnel, which ends when either side
 * ends.
 */
import type { Duplex } from 'node:stream'
import type { Address } from '../../lib/net/hosts.ts'
import type { EgressConfig, EgressName, EgressProxy } from './egress-config.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Dial } from '../../lib/net/dial.ts'
import type { Metrics } from '../../lib/telemetry/metrics.ts'
import { dialAborted, DialError } from '../../lib/net/dial-error.ts'
import { openTunnel } from './grpc-dial.ts'
import { connectTunnel } from '../../lib/net/connect-tunnel.ts'
import { openProxy } from './http-connect.ts'
import { DialerMetrics, type DialStage } from './metrics.ts'

/**
 * Time limit for opening a tunnel, from the start of the connection to the proxy. Go's client has
 * the same limit for connections.
 */
const DIAL_MS_MAX = 30_000

/**
 * Dial functions, by the name of the egress selection. If a selection is absent, its connections
 * are direct.
 */
export type Egress = { readonly [name in EgressName]?: Dial }

export function createEgress(config: EgressConfig, metrics: Metrics, clock: Clock): Egress {
  const measured = new DialerMetrics(metrics, clock)
  const dial = (name: EgressName): Egress => {
    const proxy = config[name] ?? null
    return proxy === null ? {} : { [name]: createDialer(proxy, measured) }
  }
  return { ...dial('cluster'), ...dial('controlplane'), ...dial('etcd') }
}

export function createDialer(proxy: EgressProxy, metrics: DialerMetrics): Dial {
  const dials = metrics.of(proxy)
  return async (host, port, signal) => {
    // A line break in the host would start a second request to the proxy.
    if (/[\s\0]/.test(host)) throw new DialError(`address ${JSON.stringify(host)}: invalid host`)
    const onOpen = dials.start()
    let stage: DialStage = 'connect'
    const onConnected = (): void => {
      stage = 'proxy'
    }
    using limit = limited(signal)
    try {
      const opened = await open(
        proxy,
        { host, port },
        { signal: limit.signal, onConnected, metrics },
      )
      onOpen()
      return opened
    } catch (error) {
      dials.failed(stage)
      throw error
    }
  }
}

type OpenOptions = {
  readonly signal: AbortSignal
  readonly onConnected: () => void
  readonly metrics: DialerMetrics
}

async function open(proxy: EgressProxy, to: Address, options: OpenOptions): Promise<Duplex> {
  if (proxy.protocol === 'grpc') return openTunnel(proxy.path, to, options)
  const { signal, onConnected } = options
  const socket = await openProxy(proxy, signal)
  onConnected()
  return connectTunnel(socket, to, {
    proxy: proxy.transport === 'tcp' ? proxy.address : proxy.path,
    signal,
  })
}

/**
 * Returns a signal that is aborted when the time limit expires or the caller's signal is aborted.
 */
function limited(signal: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const abort = (): void => controller.abort(dialAborted())
  const timer = setTimeout(abort, DIAL_MS_MAX).unref()
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    },
  }
}
