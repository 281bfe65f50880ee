/**
 * Opens a tunnel through an HTTP proxy with the CONNECT method. The proxy is reached over TCP, over
 * TLS with a client certificate, or at a Unix domain socket.
 */
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Address } from '../../lib/net/hosts.ts'
import type { EgressProxy } from './egress-config.ts'
import { loadTls } from '../grpc/tls.ts'
import { connected } from '../../lib/net/dial.ts'
import { dialError } from '../../lib/net/dial-error.ts'

const HTTP_PORT = 80
const HTTPS_PORT = 443

type ConnectProxy = Extract<EgressProxy, { readonly protocol: 'http-connect' }> | UnixProxy
type UnixProxy = Extract<EgressProxy, { readonly transport: 'uds' }>

/** Opens a connection to the proxy, with TLS if the proxy is configured for it. */
export async function openProxy(proxy: ConnectProxy, signal: AbortSignal): Promise<Socket> {
  if (proxy.transport === 'uds')
    return openSocket(connectPlain({ path: proxy.path }), 'connect', signal, ['unix', proxy.path])
  if (proxy.tls === null) {
    const socket = connectPlain({ ...splitAddress(proxy.address, HTTP_PORT), noDelay: true })
    return openSocket(socket, 'connect', signal, ['tcp', proxy.address])
  }
  const { caPath, certificatePath, keyPath } = proxy.tls
  const material = await loadTls({ ca: caPath ?? undefined, cert: certificatePath, key: keyPath })
  const { host, port } = splitAddress(proxy.address, HTTPS_PORT)
  // SNI carries host names, not addresses (RFC 6066, section 3), so an address is sent without SNI.
  const named = isIP(host) === 0 ? { servername: host } : {}
  const socket = connectTls({ ...material, ...named, host, port })
  return openSocket(socket.setNoDelay(true), 'secureConnect', signal, ['tcp', proxy.address])
}

function splitAddress(address: string, defaultPort: number): Address {
  const [, host = address, port = ''] = /^(.*):(\d+)$/.exec(address) ?? []
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) || defaultPort }
}

/**
 * Resolves when `event` is emitted. If the connection fails, rejects with the error message that Go
 * reports in this case.
 */
export async function openSocket(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
  [network, address]: readonly ['tcp' | 'unix', string],
): Promise<Socket> {
  try {
    await connected(socket, signal, event)
    return socket
  } catch (error) {
    throw dialError(network, address, error)
  }
}
