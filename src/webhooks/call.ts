/** A call to a webhook: one POST of a review, over TLS, with the CA bundle of its configuration. */
import { Agent } from 'node:https'
import { type Fields, fieldsOf, isFields, type KubeObject, numberOf, textOf } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import { serverTrustAnchors } from '../lib/x509/trust-anchors.ts'
import type { ReceivedAnswers } from './received.ts'
import { refusalOf } from './refusal.ts'
import { type Answer, reasonOf, send } from './send.ts'
import { type Address, addressOf, type ServicePlace } from './service-address.ts'

/** Concurrent calls of one webhook; further ones wait. */
const SOCKETS_MAX = 16

/** A call failed; the message is upstream's. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  /** Of an answer that was an error; undefined: there was none. */
  readonly status: number | undefined

  constructor(message: string, { cause, status }: { readonly cause?: unknown; readonly status?: number } = {}) {
    super(message, { cause })
    this.status = status
  }
}

/** The current Service; undefined if it does not exist. */
export type GetService = (namespace: string, name: string) => KubeObject | undefined | Promise<KubeObject | undefined>

export type WebhookParts = {
  readonly getService: GetService
  /** Shared by all webhooks. */
  readonly received: ReceivedAnswers
  /** Undefined: the limit of `received`. */
  readonly answerBytesMax?: number
}

export class Webhook {
  /** Also part of error messages. */
  readonly #origin: string
  /** Up to the timeout, which is part of the query. */
  readonly #path: string
  readonly #timeoutMs: number
  readonly #service: ServicePlace | undefined
  readonly #getService: GetService
  readonly #received: ReceivedAnswers
  readonly #answerBytesMax: number | undefined
  readonly #agent: Agent

  /** `clientConfig`: has a url, or a service of the cluster. */
  constructor(clientConfig: Fields, timeoutMs: number, { getService, received, answerBytesMax }: WebhookParts) {
    const { service } = clientConfig
    this.#service = isFields(service) ? placeOf(service) : undefined
    const url = this.#service === undefined ? new URL(textOf(clientConfig['url'])) : urlOf(fieldsOf(service))
    this.#path = `${url.pathname}${url.search === '' ? '?' : `${url.search}&`}timeout=`
    const host = this.#service === undefined ? url.host : `${url.hostname}:${this.#service.port}`
    this.#origin = `${url.protocol}//${host}`
    this.#timeoutMs = timeoutMs
    this.#getService = getService
    this.#received = received
    this.#answerBytesMax = answerBytesMax
    const caBundle = textOf(clientConfig['caBundle'])
    const ca = caBundle === '' ? {} : serverTrustAnchors(Buffer.from(caBundle, 'base64').toString('latin1'))
    this.#agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX, timeout: timeoutMs, ...ca })
  }

  /** The answer's body. The webhook is told how much time it has. Fails with a WebhookError. */
  async post(body: string, signal: AbortSignal, timeoutMs: number = this.#timeoutMs): Promise<string> {
    const answer = await this.#send(body, signal, `${this.#path}${Math.ceil(timeoutMs / 1000)}s`)
    const { status, type, text } = answer
    const why = refusalOf(answer)
    if (why !== undefined) throw new WebhookError(why, { status })
    if (text === '') throw new WebhookError(`0-length response with status code: ${status} and content type: ${type}`)
    return text
  }

  /** Closes connections as soon as they are unused: calls that are under way go on. */
  close(): void {
    this.#agent.maxFreeSockets = 0
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }

  async #send(body: string, signal: AbortSignal, path: string): Promise<Answer> {
    const { headers, ...place } = await this.#target(path)
    try {
      return await send({
        agent: this.#agent,
        isTls: true,
        target: { ...place, path },
        headers: { 'user-agent': 'kube-apiserver-admission', ...headers },
        body,
        signal,
        received: this.#received,
        answerBytesMax: this.#answerBytesMax,
      })
    } catch (error) {
      throw this.#failure(path, error instanceof Error ? reasonOf(error) : String(error), error)
    }
  }

  /** A Service is called at its cluster IP, with its DNS name for TLS. */
  async #target(path: string): Promise<Target> {
    const { hostname, port } = new URL(this.#origin)
    const named = hostname.replace(/^\[|\]$/g, '')
    if (this.#service === undefined) return { host: named, port: Number(port) || 443, headers: {} }
    const { namespace, name } = this.#service
    const address = addressOf(await this.#find(namespace, name, path), this.#service)
    if (typeof address === 'string') throw this.#failure(path, address)
    return { ...address, servername: hostname, headers: { host: `${hostname}:${this.#service.port}` } }
  }

  async #find(namespace: string, name: string, path: string): Promise<KubeObject | undefined> {
    try {
      return await this.#getService(namespace, name)
    } catch (error) {
      throw this.#failure(path, error instanceof Error ? error.message : String(error), error)
    }
  }

  #failure(path: string, why: string, cause?: unknown): WebhookError {
    return new WebhookError(`Post ${quote(this.#origin + path)}: ${why}`, { cause })
  }
}

type Target = Address & { readonly servername?: string; readonly headers: { readonly host?: string } }

const placeOf = ({ name, namespace, port }: Fields): ServicePlace => ({
  namespace: textOf(namespace),
  name: textOf(name),
  port: numberOf(port) || 443,
})

/** The URL with the DNS name of the Service. */
function urlOf({ name, namespace, path }: Fields): URL {
  const place = new URL(`https://${textOf(name)}.${textOf(namespace)}.svc`)
  place.pathname = textOf(path)
  return place
}
