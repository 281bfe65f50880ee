/** TLS on top of a connection that a Dial has opened. */
import type { OnReadOpts } from 'node:net'
import { type Duplex, PassThrough } from 'node:stream'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { connected } from './dial.ts'

/** Time limit for the handshake on an open connection. */
const HANDSHAKE_MS_MAX = 10_000

/** Adds TLS to a connection. Resolves when the handshake is complete. */
export async function secured(
  dialed: Promise<Duplex>,
  options: ConnectionOptions,
): Promise<TLSSocket> {
  const raw = await dialed
  return handshake(connect({ ...options, socket: raw }), raw)
}

/** Options of a direct TLS connection. `onread` is missing from Node's types. */
export type DirectOptions = ConnectionOptions & {
  readonly host: string
  readonly port: number
  readonly onread?: OnReadOpts
}

/**
 * Opens a TLS connection directly, and not on top of a connection that a Dial has opened. Only then
 * can Node read into a buffer that the caller provides (`onread`). Fails if the signal is aborted
 * before the connection is open.
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

/**
 * Waits for the handshake. `raw` is the stream below TLS, or the socket itself if the socket opened
 * its own connection.
 */
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
      // An `error` event without a listener would end the process. It can occur before the caller
      // adds its own listener.
      socket.on('error', () => undefined)
      // A TLSSocket does not close the stream below it, unless that stream is a net.Socket.
      socket.once('close', () => raw.destroy())
      resolve(socket)
    })
  })
}

const hungUp = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })

/**
 * If the server did not respond with TLS, replaces the error by that of Go's HTTP client. For
 * example, a proxy may report in plain text why it cannot connect.
 */
const inGoWords = (error: Error): Error =>
  'code' in error && error.code === 'ERR_SSL_WRONG_VERSION_NUMBER'
    ? new Error('http: server gave HTTP response to HTTPS client', { cause: error })
    : error

/** The callback of Node's HTTP client. It receives either the connection or an error. */
export type OnConnectionCreated = (error: Error | null, stream: Duplex) => void

/** Calls the callback of `createConnection` with the opened connection or the error. */
export function hand(opening: Promise<Duplex>, created: OnConnectionCreated | undefined): void {
  opening.then(
    (stream) => created?.(null, stream),
    // The stream is ignored if there is an error, but Node's type requires one.
    (error: Error) => created?.(error, new PassThrough().destroy()),
  )
}
