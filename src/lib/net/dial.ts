/**
 * Opens connections to other servers. An egress selector can route a connection through a proxy, so
 * this function is passed to all code that connects.
 */
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { DialError } from './dial-error.ts'

/**
 * Opens a connection without TLS. The promise resolves when the connection is ready for writing. It
 * rejects with the error of the connection, or when the signal is aborted.
 */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Duplex>

export const dialDirect: Dial = async (host, port, signal) => {
  signal.throwIfAborted()
  const socket = connect({ host, port, noDelay: true })
  await connected(socket, signal)
  return socket
}

/**
 * Resolves when the socket has emitted `event`. After 'connect', the handshake of a TLS socket may
 * still be in progress. Fails with the error of the socket, or with the reason of the signal if it
 * is aborted first.
 */
export function connected(
  socket: Socket,
  signal: AbortSignal,
  event: 'connect' | 'secureConnect' = 'connect',
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Node's own `signal` option would also destroy the connection if the signal is aborted later.
    const onAbort = (): void => void socket.destroy(signal.reason)
    const onClose = (): void => {
      signal.removeEventListener('abort', onAbort)
      reject(new DialError('EOF', { code: 'ECONNRESET' }))
    }
    signal.addEventListener('abort', onAbort)
    socket.once('error', reject).once('close', onClose)
    socket.once(event, () => {
      signal.removeEventListener('abort', onAbort)
      socket.off('error', reject).off('close', onClose)
      // An `error` event without a listener would end the process. It can occur before the caller
      // adds its own listener, or in a socket on which the caller uses TLS.
      socket.on('error', () => undefined)
      resolve()
    })
    if (signal.aborted) onAbort()
  })
}
