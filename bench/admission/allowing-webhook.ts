/** A webhook that allows everything and does no more than it must, in a process of its own: it is not what is measured. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createSecureServer } from 'node:http2'
import { Authority } from '../../test/harness/issued-certificate.ts'

type ClientConfig = { readonly url: string; readonly caBundle: string }

export class AllowingWebhook implements AsyncDisposable {
  readonly clientConfig: ClientConfig
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, clientConfig: ClientConfig) {
    this.#child = child
    this.clientConfig = clientConfig
  }

  static async start(): Promise<AllowingWebhook> {
    const child = fork(import.meta.filename, ['--serve'])
    const [told]: ClientConfig[] = await once(child, 'message')
    if (told === undefined) throw new Error('the webhook did not start')
    return new AllowingWebhook(child, told)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.kill()
    await gone
  }
}

/** The uid stands before everything that a client has a say in. */
function answerTo(body: string): string {
  const uid = /"uid":"([^"]*)"/.exec(body)?.[1] ?? ''
  return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"${uid}","allowed":true}}`
}

/** HTTP/2, and HTTP/1.1 for who knows no other. */
async function serve(): Promise<void> {
  const authority = new Authority('bench')
  const { certificatePem: cert, keyPem: key } = authority.issue({ usage: ['server'], hosts: ['127.0.0.1'] })
  const settings = { maxConcurrentStreams: 1_000 }
  const server = createSecureServer({ cert, key, allowHTTP1: true, settings }, (request, reply) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      reply.setHeader('content-type', 'application/json')
      reply.end(answerTo(body))
    })
  })
  server.on('sessionError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const caBundle = Buffer.from(authority.certificatePem).toString('base64')
  process.send?.({ url: `https://127.0.0.1:${port}/`, caBundle })
  process.on('disconnect', () => process.exit())
}

if (process.argv.includes('--serve') && import.meta.main) await serve()
