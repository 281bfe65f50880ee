/**
 * A well-behaved client that continues to send requests during an attack, and measures the latency
 * of each response.
 */
import { once } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN_TOKEN } from '../../support/harness/api-server.ts'

const PAUSE_MS = 10

export class Witness {
  readonly latenciesMs: number[] = []
  readonly failures: string[] = []
  readonly #url: string
  #session: ClientHttp2Session
  #isOver = false

  constructor(url: string) {
    this.#url = url
    this.#session = this.#connect()
  }

  /** Sends requests until `stop` is called. Never rejects: errors are in `failures`. */
  async run(paths: readonly string[]): Promise<void> {
    for (let round = 0; !this.#isOver; round++) {
      const path = paths[round % paths.length] ?? '/'
      const startMs = performance.now()
      try {
        const status = await this.get(path)
        if (status !== 200) this.failures.push(`GET ${path}: ${status}`)
      } catch (error) {
        this.failures.push(`GET ${path}: ${String(error)}`)
        if (this.#session.destroyed || this.#session.closed) this.#session = this.#connect()
      }
      this.latenciesMs.push(performance.now() - startMs)
      await sleep(PAUSE_MS)
    }
    this.#session.destroy()
  }

  async get(path: string): Promise<number> {
    const stream = this.#session.request({ ':path': path, authorization: `Bearer ${ADMIN_TOKEN}` })
    stream.resume()
    const signal = AbortSignal.timeout(20_000)
    const [[head]] = await Promise.all([
      once(stream, 'response', { signal }),
      once(stream, 'end', { signal }),
    ])
    return Number(head[':status'])
  }

  stop(): void {
    this.#isOver = true
  }

  #connect(): ClientHttp2Session {
    const session = connect(this.#url, { rejectUnauthorized: false })
    session.on('error', () => undefined)
    return session
  }
}

export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
