/** A webhook that allows every request. */
import { ForkedServer, serveForked } from '../../server/forked-server.ts'

type ClientConfig = { readonly url: string; readonly caBundle: string }

export class AllowingWebhook implements AsyncDisposable {
  readonly clientConfig: ClientConfig
  readonly #server: ForkedServer

  private constructor(server: ForkedServer) {
    this.#server = server
    const { port, caBundle } = server.address
    this.clientConfig = { url: `https://127.0.0.1:${port}/`, caBundle }
  }

  static async start(): Promise<AllowingWebhook> {
    return new AllowingWebhook(await ForkedServer.start(import.meta.filename))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]()
  }
}

/**
 * The first uid in the body is the uid of the AdmissionReview, because it precedes all fields that
 * clients can set.
 */
function answerTo(body: string): string {
  const uid = /"uid":"([^"]*)"/.exec(body)?.[1] ?? ''
  return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"${uid}","allowed":true}}`
}

if (process.argv.includes('--serve') && import.meta.main) {
  await serveForked(['127.0.0.1'], (request, reply) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      reply.setHeader('content-type', 'application/json')
      reply.end(answerTo(body))
    })
  })
}
