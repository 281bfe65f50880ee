/** TLS on a connection that a Dial has opened. */
import type { OnReadOpts } from 'node:net'
import { type Duplex, PassThrough } from 'node:stream'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { connected } from './dial.ts'

/** How long the handshake on an open connection may take. */
const HANDSHAKE_MS_MAX = 10_000

/** Resolves when the handshake is done. */
export async function secured(
  dialed: Promise<Duplex>,
  options: ConnectionOptions,
): Promise<TLSSocket> {
  const raw = await dialed
  return handshake(connect({ ...options, socket: raw }), raw)
}

/** `onread`: an option that Node's types leave out. */
export type DirectOptions = ConnectionOptions & {
  readonly host: string
  readonly port: number
  readonly onread?: OnReadOpts
}

/**
 * The same, without a connection that somebody else has opened: only so does Node read into a
 * buffer of ours (`onread`). Fails when the signal is aborted before it is connected.
 */
export async function securedDirect(
  options: DirectOptions,
  signal: AbortSignal,
): Promise<TLSSocket> {
  signal.throwIfAborted()
  const socket = connect(options).setNoDelay(true)
  await connected(socket, signal)
  return handshake(socket, socket)
}

/** `raw`: what is below it; itself, if it has opened its connection. */
function handshake(socket: TLSSocket, raw: Duplex): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      clearTimeout(timer)
      raw.destroy()
      reject(inGoWords(error))
    }
    if (socket.destroyed) return reject(socket.errored ?? hungUp())
    const onClose = (): void => fail(hungUp())
    const timer = setTimeout(
      () => socket.destroy(new Error('net/http: TLS handshake timeout')),
      HANDSHAKE_MS_MAX,
    )
    socket.once('error', fail)
    socket.once('close', onClose)
    socket.once('secureConnect', () => {
      clearTimeout(timer)
      socket.off('error', fail).off('close', onClose)
      // Until whoever gets it listens, an error must not end the process.
      socket.on('error', () => undefined)
      // TLS does not end what is below it, unless that is a socket of the system.
      socket.once('close', () => raw.destroy())
      resolve(socket)
    })
  })
}

const hungUp = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })

/** What came was no TLS: a proxy may say in plain text why it cannot connect. */
const inGoWords = (error: Error): Error =>
  'code' in error && error.code === 'ERR_SSL_WRONG_VERSION_NUMBER'
    ? new Error('http: server gave HTTP response to HTTPS client', { cause: error })
    : error

/** What Node's HTTP client calls with the connection, or with the reason why there is none. */
export type OnConnectionCreated = (error: Error | null, stream: Duplex) => void

/** To be called by a `createConnection`. */
export function hand(opening: Promise<Duplex>, created: OnConnectionCreated | undefined): void {
  opening.then(
    (stream) => created?.(null, stream),
    // Node's type wants a stream with a failure, too, and does not look at it.
    (error: Error) => created?.(error, new PassThrough().destroy()),
  )
}
