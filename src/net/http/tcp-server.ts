/**
 * Accepts connections, and passes each one on when its first bytes have arrived. A TLSSocket that
 * starts with bytes reads into a buffer of about their length, and into one of 16 KB once that was
 * full. A TLSSocket that starts without bytes asks for the 64 KB that libuv suggests, and keeps
 * them for its lifetime once a client has sent that much at once.
 */
import { createServer, type Server, type Socket } from 'node:net'

/**
 * Delay before TCP keep-alive probes are sent to detect vanished peers, as in kube-apiserver's
 * listener.
 */
const KEEP_ALIVE_PROBE_MS = 180_000
/**
 * Size of a ClientHello in one TLS record (RFC 8446, 5.1). A client cannot send anything else
 * before it gets a reply.
 */
const FIRST_BYTES_MAX = 5 + (1 << 14)

export type TcpServerOptions = {
  /** A connection that is silent for longer than this is closed. */
  readonly silentMsMax: number
  readonly onConnection: (socket: Socket) => void
  /** Called when the first bytes have arrived. They can be read from the socket. */
  readonly onBegun: (socket: Socket) => void
}

export function createTcpServer({ silentMsMax, onConnection, onBegun }: TcpServerOptions): Server {
  const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS }
  return createServer(options, (socket) => {
    socket.setTimeout(silentMsMax, () => socket.destroy())
    // TLS also gets the errors once the socket is passed on. Before that, closing the socket is the
    // only thing to do.
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
