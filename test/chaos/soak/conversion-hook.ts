/**
 * A conversion webhook for the soak tests. Version v1 has spec.value, and version v2 has spec.text.
 * The webhook can be killed and restarted at the same address.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Certificate, createSelfSigned } from '../../../src/lib/x509/certificates.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../../../src/api/object.ts'

export class ConversionHook implements AsyncDisposable {
  reviews = 0
  objects = 0
  /** Largest number of objects, and longest body, in one review. */
  objectsMax = 0
  bytesMax = 0
  readonly #certificate: Certificate = createSelfSigned('hook', ['127.0.0.1'], Date.now())
  #server: Server | undefined
  #port = 0

  static async start(): Promise<ConversionHook> {
    const hook = new ConversionHook()
    await hook.listen()
    return hook
  }

  get clientConfig(): Fields {
    const caBundle = Buffer.from(this.#certificate.certificatePem).toString('base64')
    return { url: `https://127.0.0.1:${this.#port}/convert`, caBundle }
  }

  async listen(): Promise<void> {
    const { certificatePem: cert, keyPem: key } = this.#certificate
    const server = createServer({ cert, key }, (request, response) => {
      text(request).then(
        (body) => response.end(this.#convert(body)),
        () => response.destroy(),
      )
    })
    await listenAt(server, this.#port)
    const address = server.address()
    if (typeof address === 'object' && address !== null) this.#port = address.port
    this.#server = server
  }

  /**
   * Closes the server as if its process had been killed. Closes all connections, including those
   * with calls in progress.
   */
  async die(): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    this.#server = undefined
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.die()
  }

  #convert(body: string): string {
    const { uid, desiredAPIVersion, objects } = fieldsOf(fieldsOf(JSON.parse(body))['request'])
    const given = itemsOf(objects)
    this.reviews++
    this.objects += given.length
    this.objectsMax = Math.max(this.objectsMax, given.length)
    this.bytesMax = Math.max(this.bytesMax, body.length)
    const apiVersion = textOf(desiredAPIVersion)
    const field = apiVersion.endsWith('/v2') ? 'text' : 'value'
    const convertedObjects = given.map((object) => {
      const { value, text: other, ...spec } = fieldsOf(object['spec'])
      return { ...object, apiVersion, spec: { ...spec, [field]: value ?? other } }
    })
    const response = { uid, result: { status: 'Success' }, convertedObjects }
    return JSON.stringify({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      response,
    })
  }
}

/**
 * Listens on the port, and retries while it is in use. A short-lived connection of another process
 * may have used the port while the webhook was down.
 */
async function listenAt(server: Server, port: number): Promise<void> {
  for (;;) {
    try {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      return
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
      await sleep(100)
    }
  }
}
