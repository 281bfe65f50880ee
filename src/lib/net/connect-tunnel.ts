/** A tunnel through an HTTP proxy, by the method CONNECT on an open connection to it. */
import type { Duplex } from 'node:stream'
import { dialAborted, DialError } from './dial-error.ts'
import { type Address, hostPort } from './hosts.ts'

/** Of the proxy's answer, without a body: a status line and a handful of headers. */
const HEAD_BYTES_MAX = 16 << 10
/** With which no other protocol begins that a server speaks first. */
const RESPONSE_START = 'HTTP/1.'

export type ConnectOptions = {
  /** As messages name it. */
  readonly proxy: string
  readonly signal: AbortSignal
  /** Lines of the request, each with its end. */
  readonly headers?: string
}

/** Asks the proxy for a tunnel; `socket` is then its near end. It is closed if there is none. */
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

/** The proxy has answered. */
class RefusedTunnel extends DialError {}

class UnexpectedBytes extends Error {
  readonly bytes: number

  constructor(bytes: number) {
    super('a second response')
    this.bytes = bytes
  }
}

/** Up to the empty line. What follows it is of the tunnel, and is put back. */
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
    // Not 'data': whoever gets the socket could not tell that it was paused, and would wait for
    // ever.
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
      // Konnectivity opens the tunnel first, and tells in it, as a second response, that it cannot.
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
