/** Sends the requests of a trace to a server at the specified times, and returns the outcomes. */
import { type ClientHttp2Session, connect } from 'node:http2'
import type { TraceRequest } from './traces.ts'

export type Outcome = {
  readonly arrival: TraceRequest
  readonly status: number
  /** UID of the request's priority level. */
  readonly level: string
  readonly endedMs: number
}

/**
 * Number of connections. A single connection is not enough, because it can have only 100 or 250
 * streams.
 */
const SESSIONS = 24

export class Sender implements Disposable {
  readonly #sessions: readonly ClientHttp2Session[]
  #next = 0

  constructor(url: string) {
    this.#sessions = Array.from({ length: SESSIONS }, () =>
      connect(url, { rejectUnauthorized: false }),
    )
  }

  async send(arrivals: readonly TraceRequest[]): Promise<readonly Outcome[]> {
    const startMs = performance.now()
    return Promise.all(
      arrivals.map(async (arrival) => {
        await new Promise((resolve) =>
          setTimeout(resolve, Math.max(0, arrival.atMs - (performance.now() - startMs))),
        )
        const { status, level } = await this.call(arrival)
        return { arrival, status, level, endedMs: performance.now() - startMs }
      }),
    )
  }

  call({ user, method, path, body, isWatch = false }: Omit<TraceRequest, 'atMs'>): Promise<Answer> {
    const session = this.#sessions[this.#next++ % SESSIONS]
    if (session === undefined) throw new Error('there are no sessions')
    const headers = {
      ':method': method,
      ':path': path,
      authorization: `Bearer ${user}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const stream = session.request(headers)
    stream.end(body === undefined ? undefined : JSON.stringify(body))
    return new Promise((resolve) => {
      let answer: Answer = { status: 0, level: '', text: '' }
      let text = ''
      stream.on('response', (received) => {
        answer = {
          status: received[':status'] ?? 0,
          level: String(received['x-kubernetes-pf-prioritylevel-uid'] ?? ''),
          text: '',
        }
        if (isWatch) stream.close()
      })
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
      stream.on('error', () => undefined)
      stream.on('close', () => resolve({ ...answer, text }))
    })
  }

  [Symbol.dispose](): void {
    for (const session of this.#sessions) session.destroy()
  }
}

export type Answer = { readonly status: number; readonly level: string; readonly text: string }
