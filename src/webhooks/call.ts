/** A call to a webhook: one POST of a review, over TLS, with the authority that its configuration names. */
import { Agent, request } from 'node:https'
import { type Fields, fieldsOf, numberOf, textOf } from '../api/object.ts'
import { quote } from '../api/quote.ts'

/** More than any review of a page of objects needs. */
const RESPONSE_BYTES_MAX = 64 << 20
/** Calls of one webhook at once; the others wait. */
const SOCKETS_MAX = 16

/** What went wrong, in upstream's words. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

export class Webhook {
  readonly #url: URL
  readonly #agent: Agent

  /** `clientConfig`: a url, or a service of the cluster. */
  constructor(clientConfig: Fields, timeoutMs: number) {
    this.#url = urlOf(clientConfig)
    this.#url.searchParams.set('timeout', `${timeoutMs / 1000}s`)
    const caBundle = textOf(clientConfig['caBundle'])
    const ca = caBundle === '' ? {} : { ca: Buffer.from(caBundle, 'base64') }
    this.#agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX, timeout: timeoutMs, ...ca })
  }

  /** The answer's body. Fails with a WebhookError. */
  async post(body: string, signal: AbortSignal): Promise<string> {
    const { status, type, text } = await this.#send(body, signal)
    if (status === 404) throw new WebhookError('the server could not find the requested resource')
    if (status >= 500) {
      throw new WebhookError('an error on the server ("unknown") has prevented the request from succeeding')
    }
    if (status >= 300) {
      throw new WebhookError(`the server responded with the status code ${status} but did not return more information`)
    }
    if (text === '') throw new WebhookError(`0-length response with status code: ${status} and content type: ${type}`)
    return text
  }

  async #send(body: string, signal: AbortSignal): Promise<{ status: number; type: string; text: string }> {
    const headers = {
      accept: 'application/json, */*',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'kube-apiserver-admission',
    }
    return new Promise((resolve, reject) => {
      const fail = (error: Error & { code?: string }): void =>
        reject(new WebhookError(`Post ${quote(this.#url.href)}: ${reasonOf(error)}`, { cause: error }))
      const sent = request(this.#url, { method: 'POST', agent: this.#agent, headers, signal }, (response) => {
        const chunks: Buffer[] = []
        let length = 0
        response.on('data', (chunk: Buffer) => {
          length += chunk.length
          if (length > RESPONSE_BYTES_MAX) sent.destroy(new Error('the response is too large'))
          else chunks.push(chunk)
        })
        response.on('error', fail)
        response.on('end', () => {
          const { statusCode: status = 0, headers: answered } = response
          resolve({ status, type: answered['content-type'] ?? '', text: Buffer.concat(chunks).toString('utf8') })
        })
      })
      sent.on('timeout', () => sent.destroy(new Error('context deadline exceeded')))
      sent.on('error', fail)
      sent.end(body)
    })
  }
}

const untrusted: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])

function reasonOf(error: Error & { code?: string }): string {
  const { code = '', name } = error
  if (untrusted.has(code)) return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
  if (name === 'AbortError') return 'context deadline exceeded'
  return error.message
}

/** The names of services are those of the cluster's DNS. */
function urlOf(clientConfig: Fields): URL {
  const url = textOf(clientConfig['url'])
  if (url !== '') return new URL(url)
  const { name, namespace, path, port } = fieldsOf(clientConfig['service'])
  const place = new URL(`https://${textOf(name)}.${textOf(namespace)}.svc`)
  place.port = `${numberOf(port) || 443}`
  place.pathname = textOf(path)
  return place
}
