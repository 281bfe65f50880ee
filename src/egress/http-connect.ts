/** A tunnel through an HTTP proxy: the method CONNECT, over TLS with a client certificate or over a Unix domain socket. */
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { EgressProxy } from '../config/files/egress.ts'
import { loadTls } from '../etcd/tls.ts'
import type { Address } from './address.ts'
import { dialAborted, DialError, dialError } from './dial-error.ts'
import { hostPort } from '../lib/host-port.ts'

/** Of the proxy's answer, without a body: a status line and a handful of headers. */
const HEAD_BYTES_MAX = 16 << 10
const HTTPS_PORT = 443
/** With which no other protocol begins that a server speaks first. */
const RESPONSE_START = 'HTTP/1.'

type ConnectProxy = Extract<EgressProxy, { readonly protocol: 'http-connect' }> | UnixProxy
type UnixProxy = Extract<EgressProxy, { readonly transport: 'uds' }>

/** An open connection to the proxy, with TLS if it has it. */
export async function openProxy(proxy: ConnectProxy, signal: AbortSignal): Promise<Socket> {
  if (proxy.transport === 'uds')
    return openSocket(connectPlain({ path: proxy.path }), 'connect', signal, ['unix', proxy.path])
  const { caPath, certificatePath, keyPath } = proxy.tls
  const material = await loadTls({ ca: caPath ?? undefined, cert: certificatePath, key: keyPath })
  const { host, port } = splitAddress(proxy.address)
  // SNI carries host names, not addresses (RFC 6066, 3).
  const named = isIP(host) === 0 ? { servername: host } : {}
  const socket = connectTls({ ...material, ...named, host, port })
  return openSocket(socket.setNoDelay(true), 'secureConnect', signal, ['tcp', proxy.address])
}

function splitAddress(address: string): Address {
  const [, host = address, port = ''] = /^(.*):(\d+)$/.exec(address) ?? []
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) || HTTPS_PORT }
}

/** Resolves when `event` comes. */
export function openSocket(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
  [network, address]: readonly ['tcp' | 'unix', string],
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const abort = (): void => void socket.destroy(dialAborted())
    const fail = (error: Error): void => reject(dialError(network, address, error))
    const onClose = (): void => reject(new DialError('EOF', { code: 'ECONNRESET' }))
    signal.addEventListener('abort', abort, { once: true })
    socket.once('close', () => signal.removeEventListener('abort', abort))
    socket.once('error', fail).once('close', onClose)
    socket.once(event, () => {
      signal.removeEventListener('abort', abort)
      socket.off('error', fail).off('close', onClose)
      // Whoever gets it hears of its end; until then, and below TLS, an error must not end the process.
      socket.on('error', () => undefined)
      resolve(socket)
    })
    if (signal.aborted) abort()
  })
}

export type ConnectOptions = {
  /** As messages name it. */
  readonly proxy: string
  readonly signal: AbortSignal
}

/** Asks the proxy for a tunnel; `socket` is then its near end. It is closed if there is none. */
export async function connectTunnel(socket: Socket, to: Address, { proxy, signal }: ConnectOptions): Promise<Socket> {
  const address = hostPort(to)
  socket.write(`CONNECT ${address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
  try {
    const head = await readHead(socket, signal)
    const [, status = '', reason = ''] = /^HTTP\/1\.[01] (\d{3})(?: ([^\r\n]*))?\r?\n/.exec(head) ?? []
    if (status === '') throw new DialError(`malformed HTTP response ${JSON.stringify(head.split(/\r?\n/, 1)[0])}`)
    if (status === '200') return socket
    const shown = `${status} ${reason}`.trimEnd()
    throw new RefusedTunnel(`proxy error from ${proxy} while dialing ${address}, code ${status}: ${shown}`)
  } catch (error) {
    socket.destroy()
    if (error instanceof UnexpectedBytes) {
      throw new DialError(
        `unexpected ${error.bytes} bytes of buffered data from CONNECT proxy ${JSON.stringify(proxy)}`,
      )
    }
    if (error instanceof RefusedTunnel || signal.aborted || !(error instanceof Error)) throw error
    const what = `reading HTTP response from CONNECT to ${address} via proxy ${proxy} failed`
    throw new DialError(`${what}: ${error.message}`, { cause: error })
  }
}

/** The proxy has answered. */
class RefusedTunnel extends DialError {}

class UnexpectedBytes extends Error {
  readonly bytes: number

  constructor(bytes: number) {
    super('a second response')
    this.bytes = bytes
  }
}

/** Up to the empty line. What follows it is of the tunnel, and is put back. */
function readHead(socket: Socket, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    const abort = (): void => done(dialAborted())
    const onEnd = (): void => done(new DialError(received.length === 0 ? 'EOF' : 'unexpected EOF'))
    const done = (outcome: Error | string): void => {
      socket.off('readable', onReadable).off('error', done).off('end', onEnd).off('close', onEnd)
      signal.removeEventListener('abort', abort)
      if (typeof outcome === 'string') resolve(outcome)
      else reject(outcome)
    }
    // Not 'data': whoever gets the socket could not tell that it was paused, and would wait for ever.
    const onReadable = (): void => {
      const chunk: unknown = socket.read()
      if (!Buffer.isBuffer(chunk)) return
      received = Buffer.concat([received, chunk])
      const end = received.indexOf('\r\n\r\n')
      if (end === -1) {
        if (received.length > HEAD_BYTES_MAX) done(new DialError('the head of the response is too large'))
        return
      }
      const rest = received.subarray(end + 4)
      // Konnectivity opens the tunnel first, and tells in it, as a second response, that it cannot.
      if (rest.toString('latin1', 0, RESPONSE_START.length) === RESPONSE_START)
        return done(new UnexpectedBytes(rest.length))
      done(received.toString('latin1', 0, end + 2))
      if (rest.length > 0) socket.unshift(rest)
    }
    socket.on('readable', onReadable).on('error', done).on('end', onEnd).on('close', onEnd)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })
}
