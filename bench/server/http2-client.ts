/**
 * A client with one HTTP/2 connection, for loads that h2load cannot generate: thousands of watches,
 * each with a different path.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import type { Target } from './targets.ts'

/** Window size that is large enough never to delay a list. */
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
    // Errors are ignored here, because each stream reports the error to the caller of its request.
    this.#session.on('error', () => this.#session.destroy())
    this.#session.setMaxListeners(0)
  }

  [Symbol.dispose](): void {
    this.#session.destroy()
  }

  /** Returns the body of a successful response. */
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
   * Opens a watch. Resolves when the response headers arrive. Passes each chunk of the body to
   * `onData` until the connection is closed.
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
