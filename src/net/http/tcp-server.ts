/**
 * Accepts connections, and passes each one on when its first bytes have arrived. This saves memory.
 * A TLSSocket that is created with its first bytes starts with a buffer of about their size, and
 * later uses one of 16 KB. A TLSSocket that is created without bytes uses the 64 KB that libuv
 * suggests. The TLSSocket retains these 64 KB for its lifetime once a client has sent that much at
 * once.
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
  /** Called when the first bytes have arrived. They can be read from the socket. */
  readonly onBegun: (socket: Socket) => void
}

export function createTcpServer({ silentMsMax, onConnection, onBegun }: TcpServerOptions): Server {
  const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS }
  return createServer(options, (socket) => {
    socket.setTimeout(silentMsMax, () => socket.destroy())
    // When the socket has been passed on, the TLS layer also gets the errors of the socket. Before
    // that, only this handler gets them.
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
