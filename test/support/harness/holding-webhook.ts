/**
 * An admission webhook that holds back requests until a test releases them. Then it allows them.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import { json } from 'node:stream/consumers'
import { parseText } from '../../../src/api/json-value.ts'
import { type Fields, fieldsOf } from '../../../src/api/object.ts'
import { createSelfSigned } from '../../../src/lib/x509/certificates.ts'
import { portOf } from './port-of.ts'

const { certificatePem: cert, keyPem: key } = createSelfSigned('hook', ['127.0.0.1'], Date.now())

/** Timeout of the webhook, longer than any test holds back a request. */
const TIMEOUT_SECONDS = 30

export class HoldingWebhook implements AsyncDisposable {
  readonly #server: Server
  readonly #released = Promise.withResolvers<void>()
  readonly #held = Promise.withResolvers<void>()
  #count = 0

  static async start(): Promise<HoldingWebhook> {
    const hook = new HoldingWebhook()
    hook.#server.listen(0, '127.0.0.1')
    await once(hook.#server, 'listening')
    return hook
  }

  private constructor() {
    this.#server = createServer({ cert, key }, (request, response) => {
      void json(request).then(async (review) => {
        this.#count++
        this.#held.resolve()
        await this.#released.promise
        const { uid } = fieldsOf(fieldsOf(parseText(JSON.stringify(review)))['request'])
        const answer = { uid, allowed: true }
        response.end(
          JSON.stringify({
            apiVersion: 'admission.k8s.io/v1',
            kind: 'AdmissionReview',
            response: answer,
          }),
        )
      })
    })
  }

  /** Resolves when the first request is held back. */
  get held(): Promise<void> {
    return this.#held.promise
  }

  /** Number of requests that the webhook has received. */
  get count(): number {
    return this.#count
  }

  /** Allows all requests, including those that are held back. */
  release(): void {
    this.#released.resolve()
  }

  /**
   * Returns a ValidatingWebhookConfiguration for these operations on version v1 of a resource.
   */
  configuration({ operation, group = '', resource, condition }: HeldRequests): Fields {
    const rules = [
      { operations: [operation], apiGroups: [group], apiVersions: ['v1'], resources: [resource] },
    ]
    const webhook = {
      name: 'hook.example.com',
      clientConfig: {
        url: `https://127.0.0.1:${portOf(this.#server)}/`,
        caBundle: Buffer.from(cert).toString('base64'),
      },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: TIMEOUT_SECONDS,
      matchConditions: condition === undefined ? [] : [{ name: 'held', expression: condition }],
      rules,
    }
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'hook.example.com' },
      webhooks: [webhook],
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release()
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

export type HeldRequests = {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  /** The API group of the resource. Defaults to the core group. */
  readonly group?: string
  /** The resource and optionally a subresource: `resourcequotas/status`. */
  readonly resource: string
  /** A CEL expression over `request`. If absent, all requests are held back. */
  readonly condition?: string
}

export const webhookConfigurations =
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
