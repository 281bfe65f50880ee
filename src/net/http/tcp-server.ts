/**
 * Accepts connections, and passes each one on when its first bytes have arrived. This saves memory.
 * If a TLSSocket is created with its first bytes, its buffer is about as large as these, and later
 * 16 KB. If it is created without bytes, its buffer has the 64 KB that libuv suggests. A client
 * that sends this much at once would make the TLSSocket keep the 64 KB forever.
 */
import { createServer, type Server, type Socket } from 'node:net'

/**
 * Idle time before TCP keep-alive probes are sent to detect dead peers, as in kube-apiserver's
 * listener.
 */
const KEEP_ALIVE_PROBE_MS = 180_000
/**
 * Maximum size of a ClientHello in one TLS record (RFC 8446, 5.1). A client cannot send anything
 * else before it receives a reply.
 */
const FIRST_BYTES_MAX = 5 + (1 << 14)

export type TcpServerOptions = {
  /** A connection on which no bytes arrive for this time is closed. */
  readonly silentMsMax: number
  readonly onConnection: (socket: Socket) => void
  /**
   * Called when the first bytes of a connection have arrived. They can still be read from the
   * socket.
   */
  readonly onBegun: (socket: Socket) => void
}

export function createTcpServer({ silentMsMax, onConnection, onBegun }: TcpServerOptions): Server {
  const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS }
  return createServer(options, (socket) => {
    socket.setTimeout(silentMsMax, () => socket.destroy())
    // Handles errors of the socket until it is passed on. After that, the TLS layer handles them.
    socket.on('error', () => socket.destroy())
    socket.once('data', (bytes) => {
      socket.setTimeout(0)
      socket.pause()
      socket.unshift(bytes)
      if (bytes.length > FIRST_BYTES_MAX) socket.destroy()
      else onBegun(socket)
    })
    onConnection(socket)
  })
}
