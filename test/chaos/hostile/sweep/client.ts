/** HTTP/2 client of the sweep, with persistent connections. */
import { type ClientHttp2Session, connect } from 'node:http2'

/** Time limit of a response. A response that takes longer is a fault. */
const ANSWER_MS_MAX = 60_000
/** Number of bytes of a response that are stored, to show why a request was rejected. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024

/**
 * Maximum number of header fields of a response. Each warning has its own field, and a response can
 * have hundreds.
 */
const HEADER_FIELDS_MAX = 2_000

/**
 * Memory limit of a session. A few bodies exceed the default of Node.js, 10 MB, after which Node.js
 * would reject responses.
 */
const SESSION_MEMORY_MB = 1_000

export type Call = {
  readonly method: string
  readonly path: string
  readonly token: string
  readonly type?: string
  readonly accept?: string
  readonly body?: Buffer | string
  readonly headers?: { readonly [name: string]: string }
}

export type Answer = {
  /** Status code of the response, or 0 if there was no response. */
  readonly status: number
  readonly bytes: number
  /** Beginning of the response body. */
  readonly text: string
  readonly ms: number
}

export class Client implements Disposable {
  readonly #url: string
  readonly #sessions: (ClientHttp2Session | undefined)[] = []

  constructor(url: string) {
    this.#url = url
  }

  /** Sends a request. Requests with different values of `connection` use different connections. */
  async send(
    { method, path, token, type, accept, body, headers }: Call,
    connection = 0,
  ): Promise<Answer> {
    const startMs = performance.now()
    const stream = this.#session(connection).request({
      ':method': method,
      ':path': path,
      authorization: `Bearer ${token}`,
      'user-agent': 'sweep',
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(accept === undefined ? {} : { accept }),
      ...headers,
    })
    return new Promise((resolve) => {
      let status = 0
      let bytes = 0
      const chunks: Buffer[] = []
      const end = (): void => {
        clearTimeout(timer)
        resolve({
          status,
          bytes,
          text: Buffer.concat(chunks).toString(),
          ms: performance.now() - startMs,
        })
      }
      const timer = setTimeout(() => stream.destroy(), ANSWER_MS_MAX)
      stream.on('response', (head) => void (status = Number(head[':status'])))
      stream.on('data', (chunk: Buffer) => {
        if (bytes < KEPT_BYTES_MAX) chunks.push(chunk)
        bytes += chunk.length
      })
      // If the server rejects a body, it can close the stream before the whole body has been sent.
      // The error is then stored like a part of the response.
      stream.on('error', (error) => void chunks.push(Buffer.from(String(error))))
      stream.on('close', end)
      stream.end(body)
    })
  }

  [Symbol.dispose](): void {
    for (const session of this.#sessions) session?.destroy()
  }

  #session(at: number): ClientHttp2Session {
    const known = this.#sessions[at]
    if (known !== undefined && !known.closed && !known.destroyed) return known
    const session = connect(this.#url, {
      rejectUnauthorized: false,
      maxSessionMemory: SESSION_MEMORY_MB,
      maxHeaderListPairs: HEADER_FIELDS_MAX,
    })
    session.on('error', () => undefined)
    this.#sessions[at] = session
    return session
  }
}
