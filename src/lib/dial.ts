/** How a connection to another server is opened. An egress selector may lead it through a proxy, so that who connects is handed a function. */
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** A connection without TLS, ready to be written to. Fails with the error of the connection, or when the signal is aborted. */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Duplex>

export const dialDirect: Dial = async (host, port, signal) => {
  signal.throwIfAborted()
  const socket = connect({ host, port, noDelay: true })
  await connected(socket, signal)
  return socket
}

/** Resolves when the socket is connected; what is TLS may still have to shake hands. Fails with its error, or when the signal is aborted before. */
export function connected(socket: Socket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    // Not by Node's own option, which would end the connection whenever the signal is aborted later.
    const onAbort = (): void => void socket.destroy(signal.reason)
    signal.addEventListener('abort', onAbort)
    socket.once('error', reject)
    socket.once('close', () => signal.removeEventListener('abort', onAbort))
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort)
      socket.off('error', reject)
      // Until whoever gets it listens, an error must not end the process.
      socket.on('error', () => undefined)
      resolve()
    })
  })
}
