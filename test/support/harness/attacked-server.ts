/**
 * A listener in a process of its own, as the target of attacks: so its processor time and memory
 * are its own, and the attacker's work does not slow it down more than that of a stranger would.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Handler } from '../../../src/api/request.ts'
import { Listener } from '../../../src/net/http/listener.ts'
import { createSelfSigned } from '../../../src/lib/x509/certificates.ts'
import { measureFootprint } from './leaks.ts'

export type Usage = {
  readonly cpuMs: number
  /** What is alive after a collection, in the heap and outside. */
  readonly liveBytes: number
  /** Requests that have reached the handler since the start. */
  readonly handled: number
  readonly openRequests: number
  readonly openConnections: number
  /** What was logged of connections that were ended, as `CODE message`, since the last time. */
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
 * `/large`: a megabyte. `/hang`: no answer until the client gives it up. Others: at once, after the
 * body.
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
