/**
 * Opens a tunnel through the proxy of Konnectivity (apiserver-network-proxy), which listens at a
 * Unix domain socket.
 */
import { connect } from 'node:net'
import { messageOf } from '../../lib/errors.ts'
import { type Address, hostPort } from '../../lib/net/hosts.ts'
import { DialError } from '../../lib/net/dial-error.ts'
import { openSocket } from './http-connect.ts'
import type { DialerMetrics } from './metrics.ts'
import { Tunnel } from './tunnel.ts'

/**
 * Backoff between attempts to connect, as in gRPC but without jitter. Attempts are repeated because
 * the proxy may still be starting.
 */
const RETRY_FIRST_MS = 1_000
const RETRY_FACTOR = 1.6

export type TunnelOptions = {
  /** Aborted when the time limit expires or the caller no longer needs the tunnel. */
  readonly signal: AbortSignal
  /** Called when the connection to the proxy is open. */
  readonly onConnected: () => void
  readonly metrics: DialerMetrics
}

export async function openTunnel(
  path: string,
  to: Address,
  { signal, onConnected, metrics }: TunnelOptions,
): Promise<Tunnel> {
  const tunnel = await connectPatiently(path, signal, metrics)
  onConnected()
  await tunnel.dial(hostPort(to), signal)
  return tunnel
}

/**
 * Connects to the proxy. If the proxy is not running, retries until the signal is aborted, as
 * kube-apiserver does.
 */
async function connectPatiently(
  path: string,
  signal: AbortSignal,
  metrics: DialerMetrics,
): Promise<Tunnel> {
  for (let pauseMs = RETRY_FIRST_MS; ; pauseMs *= RETRY_FACTOR) {
    try {
      return await connectOnce(path, signal, metrics)
    } catch (error) {
      const isOver = signal.aborted || !(await pause(pauseMs, signal))
      if (!isOver) continue
      const desc = JSON.stringify(`transport: Error while dialing: ${messageOf(error)}`)
      throw new DialError(`context deadline exceeded: connection error: desc = ${desc}`, {
        cause: error,
      })
    }
  }
}

async function connectOnce(
  path: string,
  signal: AbortSignal,
  metrics: DialerMetrics,
): Promise<Tunnel> {
  const socket = await openSocket(connect({ path }), 'connect', signal, ['unix', path])
  const tunnel = new Tunnel(socket, metrics)
  const abort = (): void => void tunnel.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    await tunnel.ready
    // After GOAWAY, the proxy does not answer requests for a tunnel on this connection.
    if (tunnel.isLeaving) throw new DialError('the proxy accepts no streams')
    return tunnel
  } catch (error) {
    tunnel.destroy()
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Waits for `ms`. Returns false if the signal is aborted first. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isWhole: boolean): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(isWhole)
    }
    const onAbort = (): void => end(false)
    // The timer does not keep the process alive, because it must not delay a shutdown.
    const timer = setTimeout(() => end(true), ms).unref()
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
}
