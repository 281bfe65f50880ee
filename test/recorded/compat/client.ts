/**
 * A plain HTTP client that sends a step's request byte for byte. It only adds a token and the
 * length of the body.
 */
import http, { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import type { IssuedCertificate } from '../../support/harness/issued-certificate.ts'
import type { Json } from './json.ts'

/**
 * Time after which a connection without data is closed. Responses of a healthy server arrive
 * sooner. Watches that send nothing are also ended after this time.
 */
const SILENCE_MAX_MS = 60_000

export type HeaderValue = string | number | readonly string[] | null | undefined

export type HttpRequest = {
  readonly method: string
  readonly path: string
  /** Request headers. Null removes a header that the client would add. */
  readonly headers?: Readonly<Record<string, HeaderValue>>
  readonly body?: string | Buffer | undefined
  /** Client certificate that replaces the client's own, on a separate connection. */
  readonly certificate?: IssuedCertificate | undefined
  /**
   * Time limit of the request, until the last byte of the response. If absent, only the time
   * without data is limited.
   */
  readonly timeoutMs?: number | undefined
}

export class AnswerTimeout extends Error {}

export type HttpAnswer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly raw: Buffer
}

/** A response whose body has not been read yet. To end the response, call `request.destroy()`. */
export type OpenAnswer = {
  readonly response: IncomingMessage
  readonly request: ClientRequest
  /** The connection, if the response switches protocols. */
  readonly switched?: Duplex
}

export type Client = {
  readonly request: (request: HttpRequest) => Promise<HttpAnswer>
  readonly open: (request: HttpRequest) => Promise<OpenAnswer>
  /** Closes all connections, including those of open responses. */
  readonly [Symbol.dispose]: () => void
}

export type ClientOptions = {
  readonly server: string
  readonly token?: string | undefined
  readonly cert?: Buffer | undefined
  readonly key?: Buffer | undefined
}

/**
 * Creates a client of one server. The certificate of the server is not checked, because servers
 * under test sign their own.
 */
export function createClient({ server, token, cert, key }: ClientOptions): Client {
  const base = new URL(server)
  const agents = new Agents(base.protocol === 'https:', { cert, key })
  const open = (asked: HttpRequest, signal?: AbortSignal): Promise<OpenAnswer> =>
    send(asked, { base, token, agent: agents.get(asked.certificate), signal })

  const request = async (asked: HttpRequest): Promise<HttpAnswer> => {
    const { timeoutMs } = asked
    const timeout = new AbortController()
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => timeout.abort(), timeoutMs)
    try {
      const { response, switched } = await open(asked, timeout.signal)
      const parts: Buffer[] = []
      for await (const part of switched ?? response) parts.push(part)
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        raw: Buffer.concat(parts),
      }
    } catch (cause) {
      if (!timeout.signal.aborted) throw cause
      throw new AnswerTimeout(`no complete response within ${(timeoutMs ?? 0) / 1000} s`, { cause })
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    request,
    open: (asked) => open(asked),
    [Symbol.dispose]: () => agents.destroy(),
  }
}

/**
 * Agents that reuse connections. There is one agent for the client's own certificate, and one for
 * each other certificate.
 */
class Agents {
  readonly #usual: http.Agent
  readonly #byCertificate = new Map<IssuedCertificate, https.Agent>()

  constructor(isSecure: boolean, certificate: Pick<ClientOptions, 'cert' | 'key'>) {
    this.#usual = isSecure
      ? new https.Agent({ keepAlive: true, rejectUnauthorized: false, ...certificate })
      : new http.Agent({ keepAlive: true })
  }

  get(certificate: IssuedCertificate | undefined): http.Agent {
    if (certificate === undefined) return this.#usual
    const known = this.#byCertificate.get(certificate)
    if (known !== undefined) return known
    const { certificatePem: cert, keyPem: key } = certificate
    const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false, cert, key })
    this.#byCertificate.set(certificate, agent)
    return agent
  }

  destroy(): void {
    for (const agent of [this.#usual, ...this.#byCertificate.values()]) agent.destroy()
  }
}

type SendOptions = {
  readonly base: URL
  readonly token: string | undefined
  readonly agent: http.Agent
  readonly signal: AbortSignal | undefined
}

function send(
  { method, path, headers = {}, body }: HttpRequest,
  { base, token, agent, signal }: SendOptions,
): Promise<OpenAnswer> {
  return new Promise((resolve, reject) => {
    const all = Object.entries({
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...headers,
      ...(body !== undefined && !headers['transfer-encoding']
        ? { 'content-length': Buffer.byteLength(body) }
        : {}),
    }).filter(([, value]) => value !== null)
    const request = (base.protocol === 'https:' ? https : http).request({
      host: base.hostname,
      port: base.port,
      method,
      path,
      agent,
      headers: Object.fromEntries(all),
      signal,
    })
    request.on('response', (response) => resolve({ response, request }))
    request.on('upgrade', (response, switched, first) => {
      switched.unshift(first)
      resolve({ response, request, switched })
    })
    request.setTimeout(SILENCE_MAX_MS, () =>
      request.destroy(new Error(`no response within ${SILENCE_MAX_MS / 1000} s`)),
    )
    request.on('error', reject)
    if (body !== undefined) request.write(body)
    request.end()
  })
}

/**
 * Converts a body according to its content type `type`. JSON becomes a value, or text if it is
 * invalid. Binary formats become base64. All other bodies become text.
 */
export function parseBody(raw: Buffer, type = ''): Json {
  const text = raw.toString('utf8')
  if (type.includes('json')) return parseJson(text)
  if (/protobuf|cbor|octet/.test(type)) return { base64: raw.toString('base64') }
  return text
}

/**
 * Parses a JSON text. If the text is invalid, returns it unchanged, so that it counts as a
 * difference and does not abort the run.
 */
export function parseJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

const shortTypes = new Map([
  ['json-patch', 'application/json-patch+json'],
  ['merge', 'application/merge-patch+json'],
  ['strategic', 'application/strategic-merge-patch+json'],
  ['apply-yaml', 'application/apply-patch+yaml'],
])

/** Returns the content type for a short name such as 'merge', or the name itself. */
export const mediaType = (name: string): string => shortTypes.get(name) ?? name
