/**
 * Calls a webhook: sends a review with POST over TLS. The configuration of the webhook contains the
 * CA bundle.
 */
import {
  type Fields,
  fieldsOf,
  isFields,
  type KubeObject,
  numberOf,
  textOf,
} from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { type Span, within } from '../../api/span.ts'
import type { Dial } from '../../lib/net/dial.ts'
import { messageOf } from '../../lib/errors.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { serverTrustAnchors } from '../../lib/x509/trust-anchors.ts'
import { Connections } from './connections.ts'
import type { KubeconfigCredentials } from './kubeconfig-credentials.ts'
import { BusyError, CallLimit, type CallLimits } from './call-limit.ts'
import type { ReceivedAnswers } from './received.ts'
import { refusalOf } from './refusal.ts'
import { type Answer, BrokenAnswer, reasonOf, TooLargeError } from './send.ts'
import { type Address, addressOf, endpointOf, type ServiceReference } from './service-address.ts'
import type { GetEndpoints } from './service-endpoints.ts'

/**
 * Limits for one webhook. `callsMax` is larger than 200, the default of
 * --max-mutating-requests-inflight. With this default, no call has to wait.
 */
const LIMITS: CallLimits = { callsMax: 256, waitingMax: 2_000 }

/** Origins of this server itself. Calls to them do not use a proxy. */
const ownOrigins: ReadonlySet<string> = new Set([
  'https://kubernetes.default.svc',
  'https://kubernetes.default.svc:443',
])

/** Thrown when a call fails. The message is the same as kube-apiserver's. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  /** Status of the response, or undefined if the webhook sent no error response. */
  readonly status: number | undefined
  /** The limit of this server that ended the call. If defined, the webhook may be healthy. */
  readonly limit: OwnLimit | undefined

  constructor(
    message: string,
    { cause, status }: { readonly cause?: unknown; readonly status?: number } = {},
  ) {
    super(message, { cause })
    this.status = status
    this.limit = limitOf(cause)
  }
}

/**
 * A limit of this server that ended a call. `busy` is a limit that several calls share, so another
 * attempt may succeed. `answer` is the maximum size of a single response.
 */
export type OwnLimit = 'busy' | 'answer'

function limitOf(cause: unknown): OwnLimit | undefined {
  if (cause instanceof BusyError) return 'busy'
  if (!(cause instanceof TooLargeError)) return undefined
  return cause.why === 'answer' ? 'answer' : 'busy'
}

/** Returns a Service, or undefined if it does not exist. */
export type GetService = (namespace: string, name: string) => MaybePromise<KubeObject | undefined>

/** Finds the endpoints of Services. */
export type EndpointRouting = {
  readonly getEndpoints: GetEndpoints
  /** Returns a random number from 0 to below 1, with which an endpoint is chosen. */
  readonly random: () => number
}

/**
 * Credentials with which this server authenticates to a webhook. They may be renewed, so each call
 * requests them.
 */
export type ClientCredentials = Pick<KubeconfigCredentials, 'headers' | 'certificate'>

/**
 * Returns the credentials for the host and port in a webhook's configuration, or undefined to call
 * without credentials. For a Service the host is `name.namespace.svc`.
 */
export type CredentialsFor = (host: string, port: number) => ClientCredentials | undefined

export type WebhookClientOptions = {
  readonly getService: GetService
  /**
   * Chooses one of the endpoints of a Service. If undefined, calls use the cluster IP of the
   * Service.
   */
  readonly routing?: EndpointRouting | undefined
  /**
   * Returns the credentials for a webhook. If undefined, all webhooks are called without
   * credentials.
   */
  readonly credentialsFor?: CredentialsFor | undefined
  /**
   * Limits the total size of the responses that webhooks are sending. All webhooks share this
   * object.
   */
  readonly received: ReceivedAnswers
  /**
   * Functions that open the connections to webhooks behind a Service (`cluster`) and to webhooks
   * with a URL (`controlplane`). If undefined, connections are direct.
   */
  readonly dials?: { readonly cluster?: Dial; readonly controlplane?: Dial } | undefined
  /**
   * Maximum size of a response. By default, the maximum that `received` defines for all responses.
   */
  readonly answerBytesMax?: number
}

export type PostOptions = {
  /** Timeout of the call. By default, the timeout of the webhook. */
  readonly timeoutMs?: number
  /** Parent span of the call. If undefined, the call is not traced. */
  readonly span?: Span | undefined
}

const userAgent = 'kube-apiserver-admission'

type PostRequest = { readonly path: string; readonly headers: Readonly<Record<string, string>> }

export class Webhook {
  /** The origin of the webhook's URL, for requests and error messages. */
  readonly #origin: string
  /** The path and the query. They end with `timeout=`; each call appends the value. */
  readonly #path: string
  readonly #timeoutMs: number
  readonly #service: ServiceReference | undefined
  readonly #getService: GetService
  readonly #routing: EndpointRouting | undefined
  readonly #received: ReceivedAnswers
  readonly #answerBytesMax: number | undefined
  readonly #limit = new CallLimit(LIMITS)
  readonly #credentials: ClientCredentials | undefined
  readonly #connections: Connections

  /**
   * `clientConfig` is the field of a webhook configuration that contains a URL or refers to a
   * Service.
   */
  constructor(clientConfig: Fields, timeoutMs: number, options: WebhookClientOptions) {
    const { getService, routing, credentialsFor, received, answerBytesMax, dials } = options
    const { service } = clientConfig
    this.#service = isFields(service) ? placeOf(service) : undefined
    const url =
      this.#service === undefined ? new URL(textOf(clientConfig['url'])) : urlOf(fieldsOf(service))
    this.#path = `${cleanPath(url.pathname)}${url.search === '' ? '?' : `${url.search}&`}timeout=`
    const host = this.#service === undefined ? url.host : `${url.hostname}:${this.#service.port}`
    this.#origin = `${url.protocol}//${host}`
    this.#timeoutMs = timeoutMs
    this.#getService = getService
    this.#routing = routing
    this.#received = received
    this.#answerBytesMax = answerBytesMax
    const caBundle = textOf(clientConfig['caBundle'])
    const anchors =
      caBundle === ''
        ? undefined
        : serverTrustAnchors(Buffer.from(caBundle, 'base64').toString('latin1'))
    const selected = this.#service === undefined ? dials?.controlplane : dials?.cluster
    const dial = ownOrigins.has(this.#origin) ? undefined : selected
    this.#connections = new Connections({ anchors, timeoutMs, dial })
    const named =
      this.#service === undefined ? hostAsWritten(textOf(clientConfig['url']), url) : url.hostname
    this.#credentials = credentialsFor?.(withoutBrackets(named), this.#service?.port ?? portOf(url))
  }

  /**
   * Sends a review and returns the body of the response. The query contains the timeout. Rejects
   * with a WebhookError if the call fails.
   */
  async post(
    body: string,
    signal: AbortSignal,
    { timeoutMs = this.#timeoutMs, span }: PostOptions = {},
  ): Promise<string> {
    const path = `${this.#path}${Math.ceil(timeoutMs / 1000)}s`
    const answer = await this.#inTurn(
      () => this.#traced(body, signal, { path, span }),
      signal,
      path,
    )
    const { status, type, text } = answer
    const why = refusalOf(answer)
    if (why !== undefined) throw new WebhookError(why, { status })
    if (text === '')
      throw new WebhookError(
        `0-length response with status code: ${status} and content type: ${type}`,
      )
    return text
  }

  /** Closes idle connections now, and the others when their calls have ended. */
  close(): void {
    this.#connections.close()
  }

  async #inTurn(call: () => Promise<Answer>, signal: AbortSignal, path: string): Promise<Answer> {
    try {
      return await this.#limit.run(call, signal)
    } catch (error) {
      throw error instanceof BusyError ? this.#failure(path, error.message, error) : error
    }
  }

  #traced(
    body: string,
    signal: AbortSignal,
    { path, span }: { readonly path: string; readonly span: Span | undefined },
  ): Promise<Answer> {
    if (span === undefined) return this.#send(body, signal, { path, headers: {} })
    const { hostname, port } = new URL(this.#origin)
    const call = span.child('HTTP POST', {
      kind: 'client',
      attributes: {
        'http.method': 'POST',
        'http.request_content_length': Buffer.byteLength(body),
        'http.url': `${this.#origin}${path}`,
        'net.peer.name': withoutBrackets(hostname),
        ...(port === '' ? {} : { 'net.peer.port': Number(port) }),
        'user_agent.original': userAgent,
      },
    })
    return within(call, async () => {
      const answer = await this.#send(body, signal, { path, headers: call.headers })
      call.set({
        'http.status_code': answer.status,
        'http.response_content_length': Buffer.byteLength(answer.text),
      })
      return answer
    })
  }

  async #send(
    body: string,
    signal: AbortSignal,
    { path, headers: own }: PostRequest,
  ): Promise<Answer> {
    const { headers, ...place } = await this.#target(path)
    try {
      const shown = await this.#credentials?.headers()
      const call = {
        target: { ...place, path },
        authority: this.#origin.slice('https://'.length),
        headers: { 'user-agent': userAgent, ...shown, ...headers, ...own },
        body,
        signal,
        received: this.#received,
        answerBytesMax: this.#answerBytesMax,
      }
      return await this.#connections.send(call, await this.#credentials?.certificate())
    } catch (error) {
      if (error instanceof BrokenAnswer) throw new WebhookError(error.message, { cause: error })
      throw this.#failure(path, error instanceof Error ? reasonOf(error) : String(error), error)
    }
  }

  /**
   * Returns the address to which the call connects. For a Service, this is its cluster IP or an
   * endpoint, but TLS verifies the DNS name of the Service.
   */
  async #target(path: string): Promise<Target> {
    const url = new URL(this.#origin)
    const { hostname } = url
    if (this.#service === undefined)
      return { host: withoutBrackets(hostname), port: portOf(url), headers: {} }
    const address = await this.#addressOf(this.#service, path)
    if (typeof address === 'string') throw this.#failure(path, address)
    return {
      ...address,
      servername: hostname,
      headers: { host: `${hostname}:${this.#service.port}` },
    }
  }

  async #addressOf(place: ServiceReference, path: string): Promise<Address | string> {
    const { namespace, name } = place
    const routing = this.#routing
    try {
      const service = await this.#getService(namespace, name)
      if (routing === undefined) return addressOf(service, place)
      const endpoints = await routing.getEndpoints(namespace, name)
      return endpointOf(service, place, { endpoints, random: routing.random })
    } catch (error) {
      throw this.#failure(path, messageOf(error), error)
    }
  }

  #failure(path: string, why: string, cause?: unknown): WebhookError {
    return new WebhookError(`Post ${quote(this.#origin + path)}: ${why}`, { cause })
  }
}

/**
 * Returns the host exactly as it is written in the URL. Parsing a URL converts the host to lower
 * case, but a kubeconfig's users must be looked up without this conversion, as in kube-apiserver.
 */
function hostAsWritten(text: string, { hostname }: URL): string {
  const at = text.toLowerCase().indexOf(hostname)
  return at < 0 ? hostname : text.slice(at, at + hostname.length)
}

/**
 * Cleans a path as client-go does: repeated slashes become one, and a slash at the end is removed.
 * Webhooks that are written in Go redirect all other paths, and redirects are not followed.
 */
const cleanPath = (path: string): string => path.replaceAll(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')

const portOf = ({ port }: URL): number => Number(port) || 443

/** Removes the brackets that an IPv6 address has in a URL. */
const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')

type Target = Address & {
  readonly servername?: string
  readonly headers: { readonly host?: string }
}

const placeOf = ({ name, namespace, port }: Fields): ServiceReference => ({
  namespace: textOf(namespace),
  name: textOf(name),
  port: numberOf(port) || 443,
})

/** Returns the URL with the DNS name of the Service. */
function urlOf({ name, namespace, path }: Fields): URL {
  const place = new URL(`https://${textOf(name)}.${textOf(namespace)}.svc`)
  place.pathname = textOf(path)
  return place
}
