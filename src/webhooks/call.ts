/** A call to a webhook: one POST of a review, over TLS, with the CA bundle of its configuration. */
import { Agent, request } from 'node:https'
import { type Fields, fieldsOf, isFields, type KubeObject, numberOf, textOf } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import type { ReceivedAnswers } from './received.ts'
import { type Answer, refusalOf } from './refusal.ts'
import { type Address, addressOf, type ServicePlace } from './service-address.ts'

/** Concurrent calls of one webhook; further ones wait. */
const SOCKETS_MAX = 16

/** A call failed; the message is upstream's. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

/** The current Service; undefined if it does not exist. */
export type GetService = (namespace: string, name: string) => KubeObject | undefined | Promise<KubeObject | undefined>

export type WebhookParts = {
  readonly getService: GetService
  /** Shared by all webhooks. */
  readonly received: ReceivedAnswers
}

export class Webhook {
  /** Also part of error messages. */
  readonly #url: string
  readonly #path: string
  readonly #service: ServicePlace | undefined
  readonly #getService: GetService
  readonly #received: ReceivedAnswers
  readonly #agent: Agent

  /** `clientConfig`: has a url, or a service of the cluster. */
  constructor(clientConfig: Fields, timeoutMs: number, { getService, received }: WebhookParts) {
    const { service } = clientConfig
    this.#service = isFields(service) ? placeOf(service) : undefined
    const url = this.#service === undefined ? new URL(textOf(clientConfig['url'])) : urlOf(fieldsOf(service))
    url.searchParams.set('timeout', `${timeoutMs / 1000}s`)
    this.#path = `${url.pathname}${url.search}`
    const host = this.#service === undefined ? url.host : `${url.hostname}:${this.#service.port}`
    this.#url = `${url.protocol}//${host}${this.#path}`
    this.#getService = getService
    this.#received = received
    const caBundle = textOf(clientConfig['caBundle'])
    const ca = caBundle === '' ? {} : { ca: Buffer.from(caBundle, 'base64') }
    this.#agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX, timeout: timeoutMs, ...ca })
  }

  /** The answer's body. Fails with a WebhookError. */
  async post(body: string, signal: AbortSignal): Promise<string> {
    const answer = await this.#sendSurely(body, signal)
    const { status, type, text } = answer
    const why = refusalOf(answer)
    if (why !== undefined) throw new WebhookError(why)
    if (text === '') throw new WebhookError(`0-length response with status code: ${status} and content type: ${type}`)
    return text
  }

  /** The webhook may have closed a kept-alive connection just when it was reused: the call is retried until it fails on a new one. */
  async #sendSurely(body: string, signal: AbortSignal): Promise<Answer> {
    for (;;) {
      try {
        return await this.#send(body, signal)
      } catch (error) {
        if (!(error instanceof LostConnection)) throw error
      }
    }
  }

  async #send(body: string, signal: AbortSignal): Promise<Answer> {
    const headers = {
      accept: 'application/json, */*',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'kube-apiserver-admission',
    }
    const target = await this.#target()
    return new Promise((resolve, reject) => {
      let isAnswered = false
      const fail = (error: FailedCall): void => {
        const isLost = sent.reusedSocket && !isAnswered && lostCodes.has(error.code ?? '')
        reject(isLost ? new LostConnection() : this.#failure(reasonOf(error), error))
      }
      const options = { ...target, method: 'POST', path: this.#path, agent: this.#agent, signal }
      const sent = request({ ...options, headers: { ...headers, ...target.headers } }, (response) => {
        isAnswered = true
        const received = this.#received.begin(() => sent.destroy(new Error('the response is too large')))
        response.on('data', (chunk: Buffer) => received.append(chunk))
        response.on('close', () => received.close())
        response.on('error', fail)
        response.on('end', () => {
          const { statusCode: status = 0, headers: answered } = response
          resolve({ status, type: answered['content-type'] ?? '', text: received.take().toString('utf8') })
        })
      })
      sent.on('timeout', () => sent.destroy(new Error('context deadline exceeded')))
      sent.on('error', fail)
      sent.end(body)
    })
  }

  /** A Service is called at its cluster IP, with its DNS name for TLS. */
  async #target(): Promise<Target> {
    const { hostname, port } = new URL(this.#url)
    const named = hostname.replace(/^\[|\]$/g, '')
    if (this.#service === undefined) return { host: named, port: Number(port) || 443, headers: {} }
    const { namespace, name } = this.#service
    const address = addressOf(await this.#find(namespace, name), this.#service)
    if (typeof address === 'string') throw this.#failure(address)
    return { ...address, servername: hostname, headers: { host: `${hostname}:${this.#service.port}` } }
  }

  async #find(namespace: string, name: string): Promise<KubeObject | undefined> {
    try {
      return await this.#getService(namespace, name)
    } catch (error) {
      throw this.#failure(error instanceof Error ? error.message : String(error), error)
    }
  }

  #failure(why: string, cause?: unknown): WebhookError {
    return new WebhookError(`Post ${quote(this.#url)}: ${why}`, { cause })
  }
}

type Target = Address & { readonly servername?: string; readonly headers: { readonly host?: string } }

/** A reused connection was lost before there was an answer. */
class LostConnection extends Error {}

const lostCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE'])

type FailedCall = Error & { readonly code?: string; readonly address?: string; readonly port?: number }

const untrusted: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])

/** Why a call failed, with the messages of Go's client. */
export function reasonOf(error: FailedCall): string {
  const { code = '', name, address, port } = error
  if (untrusted.has(code)) return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
  if (name === 'AbortError') return 'context deadline exceeded'
  if (code === 'ECONNREFUSED' && address !== undefined) {
    return `dial tcp ${address.includes(':') ? `[${address}]` : address}:${port}: connect: connection refused`
  }
  return error.message
}

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
