/**
 * A minimal server in a separate process, for benchmarks that need a remote server. It serves
 * HTTP/2, and HTTP/1.1 for clients that do not support HTTP/2.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { Authority } from '../../test/support/harness/issued-certificate.ts'
import { portOf } from '../../test/support/harness/port-of.ts'

/**
 * Maximum memory of an HTTP/2 session, in megabytes. With Node's default of 10, the server would
 * refuse new streams while it sends long responses.
 */
const SESSION_MEGABYTES_MAX = 1000

/** The port of the server, and the Base64-encoded CA certificate with which clients verify it. */
export type ServerAddress = { readonly port: number; readonly caBundle: string }

export type Answer = (request: Http2ServerRequest, reply: Http2ServerResponse) => void

export class ForkedServer implements AsyncDisposable {
  readonly address: ServerAddress
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, address: ServerAddress) {
    this.#child = child
    this.address = address
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Runs `file` with the argument `--serve`. The file must then call `serveForked`. */
  static async start(file: string): Promise<ForkedServer> {
    const child = fork(file, ['--serve'])
    const [told]: ServerAddress[] = await once(child, 'message')
    if (told === undefined) throw new Error(`${file} did not start`)
    return new ForkedServer(child, told)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.kill()
    await gone
  }
}

/**
 * Starts the server in the forked process, and sends its address to the parent process. The
 * server's certificate is issued for the host names `hosts`.
 */
export async function serveForked(hosts: readonly string[], answer: Answer): Promise<void> {
  const authority = new Authority('bench')
  const { certificatePem: cert, keyPem: key } = authority.issue({ usage: ['server'], hosts })
  const settings = { maxConcurrentStreams: 1_000 }
  const options = { cert, key, allowHTTP1: true, settings, maxSessionMemory: SESSION_MEGABYTES_MAX }
  const server = createSecureServer(options, answer)
  server.on('sessionError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address: ServerAddress = {
    port: portOf(server),
    caBundle: Buffer.from(authority.certificatePem).toString('base64'),
  }
  process.send?.(address)
  process.on('disconnect', () => process.exit())
}
