/**
 * Connections, each handed on when its first bytes have come. A TLSSocket that has bytes to begin with reads into a buffer of about
 * their length, and into another of 16 KB once that was full. One that has none asks for the 64 KB that libuv suggests, and keeps them for as long as it
 * lives: whoever once sent as much at once would hold twice the memory of all others together.
 */
import { createServer, type Server, type Socket } from 'node:net'

/** Peers that vanished without a word are found out after this long; as kube-apiserver's listener. */
const KEEP_ALIVE_PROBE_MS = 180_000
/** A ClientHello in one TLS record (RFC 8446, 5.1). There is nothing else that a client could send before it is answered. */
const FIRST_BYTES_MAX = 5 + (1 << 14)

export type TcpServerOptions = {
  /** Who is silent for longer is not going to begin. */
  readonly silentMsMax: number
  readonly onConnection: (socket: Socket) => void
  /** It has sent something, which can be read from it. */
  readonly onBegun: (socket: Socket) => void
}

export function createTcpServer({ silentMsMax, onConnection, onBegun }: TcpServerOptions): Server {
  const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS }
  return createServer(options, (socket) => {
    socket.setTimeout(silentMsMax, () => socket.destroy())
    // Whoever it is handed on to is told, too; before that there is nobody who would mind.
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
