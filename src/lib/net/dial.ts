/**
 * How a connection to another server is opened. An egress selector may lead it through a proxy, so
 * that who connects is handed a function.
 */
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { DialError } from './dial-error.ts'

/**
 * A connection without TLS, ready to be written to. Fails with the error of the connection, or when
 * the signal is aborted.
 */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Duplex>

export const dialDirect: Dial = async (host, port, signal) => {
  signal.throwIfAborted()
  const socket = connect({ host, port, noDelay: true })
  await connected(socket, signal)
  return socket
}

/**
 * Resolves when `event` has come; before 'secureConnect' what is TLS may still have to shake hands.
 * Fails with the error of the socket, or with the signal's reason when that is aborted before.
 */
export function connected(
  socket: Socket,
  signal: AbortSignal,
  event: 'connect' | 'secureConnect' = 'connect',
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Not by Node's own option, which would end the connection whenever the signal is aborted
    // later.
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
      // Until whoever gets it listens, and below TLS, an error must not end the process.
      socket.on('error', () => undefined)
      resolve()
    })
    if (signal.aborted) onAbort()
  })
}
