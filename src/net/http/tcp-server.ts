/**
 * Accepts connections, and hands each on when its first bytes have come. A TLSSocket that starts
 * with bytes reads into a buffer of about their length, and into another of 16 KB once that was
 * full. One that starts without any asks for the 64 KB that libuv suggests, and keeps them for as
 * long as it lives once a client has sent so much at once.
 */
import { createServer, type Server, type Socket } from 'node:net'

/**
 * TCP keep-alive probes are sent after this long, to detect peers that have vanished; as
 * kube-apiserver's listener.
 */
const KEEP_ALIVE_PROBE_MS = 180_000
/**
 * A ClientHello in one TLS record (RFC 8446, 5.1). There is nothing else that a client could send
 * before it is answered.
 */
const FIRST_BYTES_MAX = 5 + (1 << 14)

export type TcpServerOptions = {
  /** A connection that is silent for longer is closed. */
  readonly silentMsMax: number
  readonly onConnection: (socket: Socket) => void
  /** The first bytes have come; they can be read from the socket. */
  readonly onBegun: (socket: Socket) => void
}

export function createTcpServer({ silentMsMax, onConnection, onBegun }: TcpServerOptions): Server {
  const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS }
  return createServer(options, (socket) => {
    socket.setTimeout(silentMsMax, () => socket.destroy())
    // TLS gets errors, too, once the socket is handed on; before that there is nothing to do about
    // them.
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
