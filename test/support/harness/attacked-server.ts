/**
 * A listener in a separate process, as the target of attacks. Its CPU time and memory are measured
 * separately, and the work of the attacker slows it down no more than a remote client would.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Handler } from '../../../src/api/request.ts'
import { Listener } from '../../../src/net/http/listener.ts'
import { createSelfSigned } from '../../../src/lib/x509/certificates.ts'
import { measureFootprint } from './leaks.ts'

export type Usage = {
  readonly cpuMs: number
  /** Memory that is still used after a garbage collection, in V8's heap and outside of it. */
  readonly liveBytes: number
  /** Number of requests that have reached the handler since the server was started. */
  readonly handled: number
  readonly openRequests: number
  readonly openConnections: number
  /**
   * Log entries about connections that the server closed since the last query. Each has the form
   * `CODE message`.
   */
  readonly connectionErrors: readonly string[]
}

export class AttackedServer implements Disposable {
  readonly port: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
  }

  static async start(): Promise<AttackedServer> {
    const child = fork(import.meta.filename, ['--serve'])
    const [reported]: { readonly port: number }[] = await once(child, 'message')
    return new AttackedServer(child, reported?.port ?? 0)
  }

  async usage(): Promise<Usage> {
    this.#child.send('usage')
    const [usage]: Usage[] = await once(this.#child, 'message')
    if (usage === undefined) throw new Error('the server does not answer')
    return usage
  }

  [Symbol.dispose](): void {
    this.#child.kill()
  }
}

const LARGE = Buffer.alloc(1_000_000, 'x')

/**
 * Responds to `/large` with a megabyte, and to `/hang` only after the client has canceled the
 * request. All other requests get a response as soon as their body has arrived.
 */
const answer: Handler = async (request) => {
  if (request.path === '/hang') await once(request.signal, 'abort')
  const { length } = await request.body().catch(() => Buffer.alloc(0))
  const body = request.path === '/large' ? LARGE : Buffer.from(`${length}`)
  return { status: 200, headers: { 'content-type': 'text/plain' }, body }
}

async function serve(): Promise<void> {
  let handled = 0
  let connectionErrors: string[] = []
  const listener = new Listener({
    tls: createSelfSigned('attacked', ['127.0.0.1'], Date.now()),
    handler: (request) => {
      handled++
      return answer(request)
    },
    log: (level, message, fields) => {
      if (level === 'error') throw new Error(`${message} ${JSON.stringify(fields)}`)
      if (message !== 'HTTP/2 connection error') return
      connectionErrors.push(`${String(fields?.['code'])} ${String(fields?.['error'])}`)
    },
  })
  await listener.listen(0, '127.0.0.1')
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    const { openRequests, openConnections } = listener
    measureFootprint()
    const liveBytes = measureFootprint().memoryBytes
    process.send?.({
      cpuMs: (user + system) / 1000,
      liveBytes,
      handled,
      openRequests,
      openConnections,
      connectionErrors,
    })
    connectionErrors = []
  })
  process.on('disconnect', () => process.exit())
  process.send?.({ port: listener.port })
}

if (process.argv.includes('--serve')) await serve()
