/**
 * A tunnel through an HTTP proxy. It is opened with the CONNECT method on a connection to the
 * proxy.
 */
import type { Duplex } from 'node:stream'
import { dialAborted, DialError } from './dial-error.ts'
import { type Address, hostPort } from './hosts.ts'

/**
 * Maximum size of the proxy's response, which has only a status line and a few headers and no body.
 */
const HEAD_BYTES_MAX = 16 << 10
/**
 * The start of an HTTP response. If the first bytes in a tunnel are equal to it, they are a second
 * response of the proxy. They cannot come from the target: an HTTP or TLS server sends nothing
 * before the client does.
 */
const RESPONSE_START = 'HTTP/1.'

export type ConnectOptions = {
  /** The name of the proxy in error messages. */
  readonly proxy: string
  readonly signal: AbortSignal
  /** Header lines of the request, each with its line ending. */
  readonly headers?: string
}

/**
 * Requests a tunnel from the proxy. Returns `socket`, which is then the local end of the tunnel.
 * Closes the socket on failure.
 */
export async function connectTunnel<T extends Duplex>(
  socket: T,
  to: Address,
  { proxy, signal, headers = 'Host: 127.0.0.1\r\n' }: ConnectOptions,
): Promise<T> {
  const address = hostPort(to)
  socket.write(`CONNECT ${address} HTTP/1.1\r\n${headers}\r\n`)
  try {
    const head = await readHead(socket, signal)
    const [, status = '', reason = ''] =
      /^HTTP\/1\.[01] (\d{3})(?: ([^\r\n]*))?\r?\n/.exec(head) ?? []
    if (status === '')
      throw new DialError(`malformed HTTP response ${JSON.stringify(head.split(/\r?\n/, 1)[0])}`)
    if (status === '200') return socket
    const shown = `${status} ${reason}`.trimEnd()
    throw new RefusedTunnel(
      `proxy error from ${proxy} while dialing ${address}, code ${status}: ${shown}`,
    )
  } catch (error) {
    socket.destroy()
    if (error instanceof UnexpectedBytes) {
      throw new DialError(
        `unexpected ${error.bytes} bytes of buffered data from CONNECT proxy ${JSON.stringify(proxy)}`,
      )
    }
    if (error instanceof RefusedTunnel || signal.aborted || !(error instanceof Error)) throw error
    const what = `reading HTTP response from CONNECT to ${address} via proxy ${proxy} failed`
    throw new DialError(`${what}: ${error.message}`, { cause: error })
  }
}

/** The proxy responded with a status other than 200. */
class RefusedTunnel extends DialError {}

class UnexpectedBytes extends Error {
  readonly bytes: number

  constructor(bytes: number) {
    super('a second response')
    this.bytes = bytes
  }
}

/**
 * Reads the response up to the empty line. Later bytes belong to the tunnel and are put back into
 * the stream.
 */
function readHead(socket: Duplex, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    const abort = (): void => done(dialAborted())
    const onEnd = (): void => done(new DialError(received.length === 0 ? 'EOF' : 'unexpected EOF'))
    const done = (outcome: Error | string): void => {
      socket.off('readable', onReadable).off('error', done).off('end', onEnd).off('close', onEnd)
      signal.removeEventListener('abort', abort)
      if (typeof outcome === 'string') resolve(outcome)
      else reject(outcome)
    }
    // Do not use the 'data' event: it would leave the socket paused, and the next owner of the
    // socket would wait forever.
    const onReadable = (): void => {
      const chunk: unknown = socket.read()
      if (!Buffer.isBuffer(chunk)) return
      received = Buffer.concat([received, chunk])
      const end = received.indexOf('\r\n\r\n')
      if (end === -1) {
        if (received.length > HEAD_BYTES_MAX)
          done(new DialError('the head of the response is too large'))
        return
      }
      const rest = received.subarray(end + 4)
      // The Konnectivity proxy reports that the tunnel is open before it connects to the target. If
      // it cannot connect, it sends a second response, through the tunnel.
      if (rest.toString('latin1', 0, RESPONSE_START.length) === RESPONSE_START)
        return done(new UnexpectedBytes(rest.length))
      done(received.toString('latin1', 0, end + 2))
      if (rest.length > 0) socket.unshift(rest)
    }
    socket.on('readable', onReadable).on('error', done).on('end', onEnd).on('close', onEnd)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })
}
