/**
 * Sends GET requests to an issuer, for its discovery document, its keys, and distributed claims.
 * The requests use only TLS, even if a redirect or a document of the issuer contains an http: URL.
 * kube-apiserver also follows such links over plain HTTP.
 */
import { STATUS_CODES } from 'node:http'
import { Agent, request } from 'node:https'
import { quote } from '../../../api/quote.ts'
import { GrowingBuffer } from '../../../lib/bytes/growing-buffer.ts'
import { deadline, type Timers } from '../../../lib/time/timers.ts'
import { systemContext } from '../../../lib/x509/system-roots.ts'
import { serverTrustAnchors } from '../../../lib/x509/trust-anchors.ts'
import { reasonOf } from '../../../net/outbound/send.ts'

/** Time limit of a request including all redirects, as in kube-apiserver. */
const GET_MS_MAX = 30_000
/** Maximum size of a response, enough for a few hundred keys. kube-apiserver has no limit. */
const ANSWER_BYTES_MAX = 1 << 20
/** Maximum number of redirects, as in Go's HTTP client. */
const REDIRECTS_MAX = 10
const SOCKETS_MAX = 8

export type Answer = {
  readonly status: number
  /** Status code and reason phrase, for example `404 Not Found`. */
  readonly statusText: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly body: Buffer
}

/**
 * Sends a GET request. If the request fails, rejects with an Error that has the message of Go's
 * HTTP client.
 */
export type Get = (url: string, bearer?: string) => Promise<Answer>

export class IssuerClient implements Disposable {
  readonly #agent: Agent
  readonly #timers: Pick<Timers, 'after'>
  readonly #ended = new AbortController()

  /**
   * Creates a client. `certificateAuthority` is a PEM bundle; an empty string means the system's
   * trust store.
   */
  constructor(certificateAuthority: string, timers: Pick<Timers, 'after'>) {
    const ca =
      certificateAuthority === ''
        ? { secureContext: systemContext() }
        : serverTrustAnchors(certificateAuthority)
    // Connections are not kept alive, because requests are rare, and the issuer could close an idle
    // connection at the moment when it is reused.
    this.#agent = new Agent({ keepAlive: false, maxSockets: SOCKETS_MAX, ...ca })
    this.#timers = timers
  }

  readonly get: Get = async (url, bearer) => {
    using limit = deadline(this.#timers, GET_MS_MAX)
    const signal = AbortSignal.any([limit.signal, this.#ended.signal])
    let target = urlOf(url)
    for (let redirects = 0; ; redirects++) {
      const isSameHost = target.host === urlOf(url).host
      const answer = await this.#send(target, isSameHost ? bearer : undefined, signal)
      const { location } = answer.headers
      if (!redirecting.has(answer.status) || typeof location !== 'string') return answer
      if (redirects === REDIRECTS_MAX)
        throw failure(target, `stopped after ${REDIRECTS_MAX} redirects`)
      target = urlOf(location, target)
    }
  }

  #send(url: URL, bearer: string | undefined, signal: AbortSignal): Promise<Answer> {
    const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const fail = (error: Error): void => reject(failure(url, reasonOf(error)))
    const sent = request(url, { agent: this.#agent, signal, headers }, (response) => {
      const collected = new GrowingBuffer()
      let bytes = 0
      response.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes > ANSWER_BYTES_MAX)
          sent.destroy(new Error(`the response has more than ${ANSWER_BYTES_MAX} bytes`))
        else collected.append(piece)
      })
      response.on('error', fail)
      response.on('end', () => {
        const { statusCode: status = 0 } = response
        const statusText = `${status} ${STATUS_CODES[status] ?? ''}`
        resolve({ status, statusText, headers: response.headers, body: collected.take() })
      })
    })
    sent.on('error', fail)
    // This client never requests a protocol upgrade. Without this handler, Node would close an
    // upgraded connection without reporting an error.
    sent.once('upgrade', (_response, socket) => {
      socket.on('error', () => undefined).destroy()
      fail(new Error('unexpected response: 101 Switching Protocols'))
    })
    // Reject if the connection closes before the response is complete. After a response or an
    // error, this call has no effect.
    sent.once('close', () => fail(new Error('unexpected EOF')))
    sent.end()
    return promise
  }

  /** Aborts the requests in flight. */
  [Symbol.dispose](): void {
    this.#ended.abort()
    this.#agent.destroy()
  }
}

const redirecting: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const failure = (url: URL, why: string): Error =>
  new Error(`Get ${quote(withoutPassword(url.href))}: ${why}`)

/**
 * Masks the password in a URL, as Go does when it prints a URL. Also masks the password in a string
 * that is not a valid URL.
 */
export function withoutPassword(text: string): string {
  const url = URL.parse(text)
  if (url === null) return text.replace(/\/\/[^/@]*@/, '//***@')
  if (url.password === '') return text
  url.password = '***'
  return url.href
}

function urlOf(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (url === null) throw new Error(`parse ${quote(withoutPassword(text))}: invalid URL`)
  if (url.protocol !== 'https:') throw failure(url, 'URL scheme must be https')
  return url
}
