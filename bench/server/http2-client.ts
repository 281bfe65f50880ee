/**
 * A client with one HTTP/2 connection, for loads that h2load cannot make: thousands of watches,
 * each with a path of its own.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import type { Target } from './targets.ts'

/** Wide enough that a list is never held up by the client. */
const WINDOW_BYTES = 16 << 20

export type SentRequest = {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export class Http2Client implements Disposable {
  readonly #session: ClientHttp2Session
  readonly #name: string
  readonly #token: string

  constructor({ name, server, token = '' }: Target) {
    this.#name = name
    this.#token = token
    this.#session = connect(server, {
      rejectUnauthorized: false,
      settings: { initialWindowSize: WINDOW_BYTES },
    })
    this.#session.on('connect', () => this.#session.setLocalWindowSize(WINDOW_BYTES))
    // Each stream reports what went wrong to the one who waits for it.
    this.#session.on('error', () => this.#session.destroy())
    this.#session.setMaxListeners(0)
  }

  [Symbol.dispose](): void {
    this.#session.destroy()
  }

  /** The body of a good answer. */
  ask(sent: SentRequest): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const parts: Buffer[] = []
      const stream = this.#send(sent, reject)
      let status = 0
      stream.on('response', (answer) => {
        status = Number(answer[constants.HTTP2_HEADER_STATUS])
      })
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => {
        const body = Buffer.concat(parts)
        if (status >= 300) reject(this.#refused(sent, status, body.toString('utf8')))
        else resolve(body)
      })
    })
  }

  status(sent: SentRequest): Promise<number> {
    return new Promise((resolve, reject) => {
      const stream = this.#send(sent, reject).resume()
      stream.on('response', (answer) => resolve(Number(answer[constants.HTTP2_HEADER_STATUS])))
    })
  }

  /**
   * Comes back when the server has begun to answer, and tells of each piece that comes. It ends
   * with the connection.
   */
  watch(sent: SentRequest, onData: (piece: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const stream = this.#send(sent, reject)
      stream.on('response', (answer) => {
        const status = Number(answer[constants.HTTP2_HEADER_STATUS])
        if (status === 200) resolve()
        else reject(this.#refused(sent, status, ''))
      })
      stream.on('data', onData)
    })
  }

  #send(
    { method = 'GET', path, headers = {}, body }: SentRequest,
    onError: (error: Error) => void,
  ): ClientHttp2Stream {
    const stream = this.#session.request({
      [constants.HTTP2_HEADER_METHOD]: method,
      [constants.HTTP2_HEADER_PATH]: path,
      authorization: `Bearer ${this.#token}`,
      ...headers,
    })
    stream.on('error', onError)
    stream.end(body)
    return stream
  }

  #refused({ method = 'GET', path }: SentRequest, status: number, body: string): Error {
    return new Error(`${this.#name} ${method} ${path}: ${status} ${body}`)
  }
}
