/**
 * A well-behaved HTTP/2 client that retries like client-go. It retries a request in these cases:
 *
 * - The server has not begun to process it (RFC 9113, section 8.7). The server reports this by a
 * GOAWAY with a lower stream ID, or by REFUSED_STREAM.
 * - No connection was established.
 * - The server asked the client to retry.
 */
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'

const TRIES_MAX = 50
const RETRY_MS = 200
const ANSWER_MS_MAX = 60_000

export type HttpAnswer = { readonly status: number; readonly text: string }
type Outcome = HttpAnswer & { readonly retryAfter: string | undefined }

export class SteadyClient implements Disposable {
  /**
   * Number of requests that were retried because no server had begun to process them. `toldToWait`
   * is the number of responses that asked the client to retry later.
   */
  refused = 0
  toldToWait = 0
  connections = 0
  readonly #url: string
  readonly #token: string
  /**
   * Connection for new requests. An older connection that is closing still receives its responses.
   */
  #current:
    | {
        readonly session: ClientHttp2Session
        readonly ready: Promise<ClientHttp2Session | undefined>
      }
    | undefined

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  /**
   * Sends a request and retries it if that is safe. Rejects if the server did not respond and may
   * have begun to process the request.
   */
  async call(method: string, path: string, body?: unknown): Promise<HttpAnswer> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const session = await this.#connected()
      if (session === undefined) {
        await sleep(RETRY_MS)
        continue
      }
      const outcome = await this.#send(session, { method, path, body })
      if (outcome === 'refused') this.refused++
      else if (outcome.retryAfter === undefined) return outcome
      else {
        this.toldToWait++
        await sleep(1000 * Number(outcome.retryAfter))
      }
    }
    throw new Error(`${method} ${path}: not answered after ${TRIES_MAX} tries`)
  }

  [Symbol.dispose](): void {
    this.#current?.session.destroy()
  }

  /** Returns the current connection, or undefined if it could not be established. */
  async #connected(): Promise<ClientHttp2Session | undefined> {
    if (
      this.#current === undefined ||
      this.#current.session.closed ||
      this.#current.session.destroyed
    ) {
      this.connections++
      const session = connect(this.#url, { rejectUnauthorized: false })
      const ready = new Promise<ClientHttp2Session | undefined>((resolve) => {
        session.once('connect', () => resolve(session)).once('close', () => resolve(undefined))
      })
      session.on('error', () => undefined)
      this.#current = { session, ready }
    }
    return this.#current.ready
  }

  #send(
    session: ClientHttp2Session,
    {
      method,
      path,
      body,
    }: { readonly method: string; readonly path: string; readonly body: unknown },
  ): Promise<Outcome | 'refused'> {
    const headers = { ':method': method, ':path': path, authorization: `Bearer ${this.#token}` }
    const sent = body === undefined ? headers : { ...headers, 'content-type': 'application/json' }
    return new Promise((resolve, reject) => {
      let stream: ClientHttp2Stream
      try {
        stream = session.request(sent, { endStream: body === undefined })
      } catch {
        // The session has just been closed, so nothing was sent.
        return resolve('refused')
      }
      let [status, text, isWhole] = [0, '', false]
      let retryAfter: string | undefined
      stream.setTimeout(ANSWER_MS_MAX, () => stream.close(constants.NGHTTP2_CANCEL))
      stream.on('response', (head) => {
        status = head[':status'] ?? 0
        retryAfter = status === 429 ? (head['retry-after'] ?? '1') : undefined
      })
      stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      stream.on('end', () => (isWhole = true))
      let error: Error | undefined
      stream.on('error', (one) => (error = one))
      stream.on('close', () => {
        if (isWhole && status > 0 && stream.rstCode === constants.NGHTTP2_NO_ERROR) {
          return resolve({ status, text, retryAfter })
        }
        // Streams without an id have not sent their headers yet.
        const isUnsent = stream.id === undefined
        if (status === 0 && (isUnsent || stream.rstCode === constants.NGHTTP2_REFUSED_STREAM))
          return resolve('refused')
        reject(
          new Error(
            `${method} ${path}: status ${status}, code ${stream.rstCode}, ${String(error?.message)}`,
          ),
        )
      })
      if (body !== undefined) stream.end(JSON.stringify(body))
    })
  }
}
