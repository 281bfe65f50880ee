/**
 * Calls the server of a kubeconfig with the credentials of its user, for example for token reviews,
 * access reviews and audit events.
 */
import { Agent, type AgentOptions } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { quote } from '../../api/quote.ts'
import type { ClientConfig } from './kubeconfig.ts'
import { type Dial, dialDirect } from '../../lib/net/dial.ts'
import { DialedAgent, DialedTlsAgent } from '../../lib/net/dialed-agents.ts'
import { formatDuration } from '../../lib/time/duration.ts'
import { proxyAuthorization, throughProxy, toProxy } from '../../lib/net/proxied-dial.ts'
import { systemContext } from '../../lib/x509/system-roots.ts'
import { serverTrustAnchors } from '../../lib/x509/trust-anchors.ts'
import { deadline, sleep, systemTime, type Time } from '../../lib/time/timers.ts'
import { CallError, type CallFailure } from './call-error.ts'
import { KubeconfigCredentials, type KeyPair } from './kubeconfig-credentials.ts'
import { ReceivedAnswers } from './received.ts'
import { refusalOf } from './refusal.ts'
import { type Answer, type FailedCall, reasonOf, send, TooLargeError } from './send.ts'

/** Maximum number of concurrent calls of one client. Further calls wait until their timeout. */
const SOCKETS_MAX = 64
/**
 * Maximum number of calls of one client that are in progress or waiting. Further calls fail as
 * `busy`. This limit is needed because the number of watches and of requests with impersonation is
 * not limited, and each of them can make a call.
 */
const CALLS_MAX = 2_000
/**
 * Maximum size of a response, which is parsed in one tick of the event loop. A review usually takes
 * a few KB.
 */
const ANSWER_BYTES_MAX = 1 << 20
/** Maximum total size of the responses that one client is receiving. */
const ANSWERS_BYTES_MAX = 16 << 20
/** Maximum number of retries for a server that responds with Retry-After, as in client-go. */
const RETRIES_MAX = 10

export type KubeconfigClientOptions = {
  /** Timeout of each call, until its response is complete. */
  readonly timeoutMs: number
  readonly time?: Time
  /** Opens the transport of a connection. If undefined, connections are direct. */
  readonly dial?: Dial | undefined
}

export class KubeconfigClient implements Disposable {
  readonly #kubeconfig: ClientConfig
  readonly #timeoutMs: number
  readonly #time: Time
  readonly #dial: Dial | undefined
  /** The proxy, or undefined if there is none. */
  readonly #proxy: URL | undefined
  readonly #url: URL
  readonly #credentials: KubeconfigCredentials
  readonly #received = new ReceivedAnswers({
    answerBytesMax: ANSWER_BYTES_MAX,
    bytesMax: ANSWERS_BYTES_MAX,
  })
  #connections: { readonly agent: Agent | TlsAgent; readonly certificate: string } | undefined
  #calls = 0
  /**
   * Number of calls in progress, without calls that wait for a retry because the server is busy.
   */
  #sent = 0

  constructor(
    kubeconfig: ClientConfig,
    { timeoutMs, time = systemTime, dial }: KubeconfigClientOptions,
  ) {
    this.#kubeconfig = kubeconfig
    this.#timeoutMs = timeoutMs
    this.#time = time
    this.#credentials = new KubeconfigCredentials(kubeconfig, time)
    this.#url = new URL(kubeconfig.server)
    this.#url.searchParams.set('timeout', formatDuration(timeoutMs))
    this.#proxy = kubeconfig.proxyUrl === '' ? undefined : new URL(kubeconfig.proxyUrl)
    this.#dial = this.#proxy === undefined ? dial : this.#dialProxy(dial, this.#proxy)
  }

  /**
   * Returns the Dial that connects through the proxy, or undefined if Node's agent can do this.
   * `given` opens the connection to the proxy, as in Go's client. A proxy with TLS also needs a
   * Dial, because Node's agent does not trust the system's root certificates.
   */
  #dialProxy(given: Dial | undefined, proxy: URL): Dial | undefined {
    if (given === undefined && proxy.protocol !== 'https:') return undefined
    const dial = given ?? dialDirect
    return this.#url.protocol === 'https:' ? throughProxy(dial, proxy) : toProxy(dial, proxy)
  }

  /**
   * Sends a POST and returns the body of the response. Rejects with a CallError if the call fails.
   */
  async post(body: string, signal?: AbortSignal): Promise<string> {
    const { status, type, text } = await this.#call(body, signal)
    if (text !== '') return text
    throw new CallError(
      `0-length response with status code: ${status} and content type: ${type}`,
      'other',
    )
  }

  /**
   * Sends a POST, and ignores the body of the response. Rejects with a CallError if the call fails.
   */
  async deliver(body: string, signal?: AbortSignal): Promise<void> {
    await this.#call(body, signal)
  }

  /**
   * Sends a GET to the server's URL and returns the body of the response. Rejects with a CallError
   * if the call fails.
   */
  async get(signal?: AbortSignal): Promise<string> {
    return (await this.#call(undefined, signal)).text
  }

  [Symbol.dispose](): void {
    this.#connections?.agent.destroy()
  }

  /** Sends a POST, or a GET if there is no body. */
  async #call(body: string | undefined, signal: AbortSignal | undefined): Promise<Answer> {
    if (this.#calls === CALLS_MAX) throw this.#failed('busy', new Error('busy'), body)
    this.#calls++
    try {
      const answer = await this.#callPatiently(body, signal)
      const why = refusalOf(answer)
      if (why !== undefined) throw new CallError(why, 'answered', { answer })
      return answer
    } finally {
      this.#calls--
    }
  }

  /**
   * Makes a call. If the server responds with Retry-After, repeats the call after the requested
   * delay. The delays together are limited to the timeout of a call, because a server can request
   * any delay.
   */
  async #callPatiently(body: string | undefined, signal: AbortSignal | undefined): Promise<Answer> {
    let sleptMs = 0
    for (let retries = 0; ; retries++) {
      const answer = await this.#callOnce(body, signal)
      const isBusy = (answer.status === 429 || answer.status >= 500) && answer.retryAfterSec > 0
      sleptMs += answer.retryAfterSec * 1000
      if (!isBusy || retries === RETRIES_MAX || sleptMs > this.#timeoutMs) return answer
      try {
        await sleep(this.#time, answer.retryAfterSec * 1000, signal)
      } catch {
        return answer
      }
    }
  }

  async #callOnce(body: string | undefined, signal: AbortSignal | undefined): Promise<Answer> {
    using limit = deadline(this.#time, this.#timeoutMs)
    const controller = new AbortController()
    const abort = (): void => controller.abort()
    limit.signal.addEventListener('abort', abort)
    signal?.addEventListener('abort', abort)
    if (signal?.aborted === true) abort()
    // Remember whether the call must wait for other calls. A timeout then does not mean that the
    // server failed.
    const isQueued = this.#sent >= SOCKETS_MAX
    this.#sent++
    try {
      return await this.#send(body, controller.signal)
    } catch (error) {
      const failed = error instanceof Error ? error : new Error(String(error))
      const late = isQueued ? 'busy' : 'timeout'
      const failure = limit.signal.aborted
        ? late
        : signal?.aborted === true
          ? 'canceled'
          : failureOf(failed)
      throw this.#failed(failure, failed, body)
    } finally {
      this.#sent--
      signal?.removeEventListener('abort', abort)
    }
  }

  async #send(body: string | undefined, signal: AbortSignal): Promise<Answer> {
    const { host, hostname, port, pathname, search, protocol } = this.#url
    const isTls = protocol === 'https:'
    // Without a tunnel, the request is sent to the proxy and must contain the whole URL.
    const relay = isTls || this.#dial === undefined ? undefined : this.#proxy
    const credentials = relay === undefined ? '' : proxyAuthorization(relay)
    const [headers, agent] = await Promise.all([this.#credentials.headers(), this.#agent(isTls)])
    return send({
      agent,
      isTls,
      target: {
        host: hostname.replace(/^\[|\]$/g, ''),
        port: Number(port) || (isTls ? 443 : 80),
        path:
          relay === undefined ? `${pathname}${search}` : `${protocol}//${host}${pathname}${search}`,
      },
      headers: {
        'user-agent': 'keelson',
        ...headers,
        ...(credentials === '' ? {} : { 'proxy-authorization': credentials }),
      },
      body,
      signal,
      received: this.#received,
    })
  }

  /**
   * Returns the agent for the current client certificate. When the certificate is renewed, new
   * connections are needed.
   */
  async #agent(isTls: boolean): Promise<Agent | TlsAgent> {
    const own = await this.#credentials.certificate()
    const certificate = own === undefined ? '' : `${own.cert}${own.key}`
    if (this.#connections?.certificate === certificate) return this.#connections.agent
    const old = this.#connections?.agent
    const agent = isTls ? this.#tlsAgent(own) : this.#plainAgent()
    this.#connections = { agent, certificate }
    if (old !== undefined) this.#time.after(this.#timeoutMs, () => old.destroy())
    return agent
  }

  #tlsAgent(own: KeyPair | undefined): TlsAgent {
    const options = this.#tlsOptions(own)
    return this.#dial === undefined
      ? new TlsAgent(options)
      : new DialedTlsAgent(this.#dial, options)
  }

  #plainAgent(): Agent {
    const options = this.#agentOptions()
    return this.#dial === undefined ? new Agent(options) : new DialedAgent(this.#dial, options)
  }

  #agentOptions(): AgentOptions {
    const { proxyUrl } = this.#kubeconfig
    // If there is a Dial, it connects to the proxy, and the agent must not do so.
    const proxyEnv =
      proxyUrl === '' || this.#dial !== undefined
        ? {}
        : { proxyEnv: { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl } }
    return { keepAlive: true, maxSockets: SOCKETS_MAX, ...proxyEnv }
  }

  #tlsOptions(own: KeyPair | undefined): NonNullable<ConstructorParameters<typeof TlsAgent>[0]> {
    const { certificateAuthority, isInsecure, tlsServerName } = this.#kubeconfig
    const usesSystem = certificateAuthority === '' && !isInsecure
    return {
      ...this.#agentOptions(),
      ...(usesSystem
        ? { secureContext: systemContext(own) }
        : { ...serverTrustAnchors(certificateAuthority), ...own }),
      ...(isInsecure ? { rejectUnauthorized: false } : {}),
      ...(tlsServerName === '' ? {} : { servername: tlsServerName }),
    }
  }

  /**
   * Returns the error of a failed call. Its message contains the URL without user name and
   * password.
   */
  #failed(failure: CallFailure, cause: FailedCall, body: string | undefined): CallError {
    const { protocol, host, pathname, search } = this.#url
    const why = whyOf[failure] ?? reasonOf(cause)
    const method = body === undefined ? 'Get' : 'Post'
    return new CallError(
      `${method} ${quote(`${protocol}//${host}${pathname}${search}`)}: ${why}`,
      failure,
      { cause },
    )
  }
}

const whyOf: Partial<Record<CallFailure, string>> = {
  timeout: 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
  canceled: 'context canceled',
  busy: 'too many calls are under way',
}

function failureOf(error: FailedCall): CallFailure {
  if (error instanceof TooLargeError) return error.why === 'answer' ? 'too-large' : 'busy'
  const { code } = error
  if (code === 'ECONNRESET') return 'reset'
  return code === 'ECONNREFUSED' ? 'refused' : 'other'
}
