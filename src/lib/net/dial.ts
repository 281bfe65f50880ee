/**
 * Opens connections to other servers. An egress selector may route a connection through a proxy, so
 * code that connects receives a function.
 */
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { DialError } from './dial-error.ts'

/**
 * Opens a connection without TLS that is ready for writing. Fails with the error of the connection,
 * or when the signal is aborted.
 */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Duplex>

export const dialDirect: Dial = async (host, port, signal) => {
  signal.throwIfAborted()
  const socket = connect({ host, port, noDelay: true })
  await connected(socket, signal)
  return socket
}

/**
 * Resolves when the socket has emitted `event`. After 'connect', a TLS socket may still have to
 * shake hands. Fails with the error of the socket, or with the signal's reason if it is aborted
 * first.
 */
export function connected(
  socket: Socket,
  signal: AbortSignal,
  event: 'connect' | 'secureConnect' = 'connect',
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Node's own option would destroy the connection whenever the signal is aborted later.
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
      // An error must not end the process before the next owner of the socket listens, or if it is
      // below TLS.
      socket.on('error', () => undefined)
      resolve()
    })
    if (signal.aborted) onAbort()
  })
}
