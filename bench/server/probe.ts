/**
 * A client that sends one small request at a time while a load runs. Its latency shows how the load
 * affects other clients.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../test/recorded/compat/client.ts'
import type { Target } from './targets.ts'

/**
 * Pause between two requests. It allows a few hundred requests per minute, which is a negligible
 * load for a server.
 */
const PAUSE_MS = 50
const PATH = '/api/v1/namespaces/default/configmaps/probe'

export type Waits = {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly count: number
}

/** Alternately reads and changes a ConfigMap until it is stopped. */
export class Probe implements Disposable {
  readonly #client
  readonly #times: number[] = []
  readonly #running: Promise<void>
  #isStopped = false

  constructor(target: Target) {
    this.#client = createClient(target)
    this.#running = this.#run()
  }

  /** Stops the probe and returns the latency of its requests in milliseconds. */
  async stop(): Promise<Waits> {
    this.#isStopped = true
    await this.#running
    const sorted = this.#times.toSorted((a, b) => a - b)
    const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
    return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? Number.NaN, count: sorted.length }
  }

  [Symbol.dispose](): void {
    this.#isStopped = true
    this.#client[Symbol.dispose]()
  }

  async #run(): Promise<void> {
    const metadata = { name: 'probe' }
    const headers = { 'content-type': 'application/json' }
    const path = PATH.slice(0, PATH.lastIndexOf('/'))
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
    await this.#client.request({ method: 'POST', path, headers, body })
    while (!this.#isStopped) {
      await this.#time({ method: 'GET' })
      await this.#time({
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ data: { at: `${performance.now()}` } }),
      })
      await sleep(PAUSE_MS)
    }
  }

  async #time(request: {
    method: string
    headers?: Readonly<Record<string, string>>
    body?: string
  }): Promise<void> {
    const began = performance.now()
    const { status, raw } = await this.#client.request({ path: PATH, ...request })
    if (status !== 200)
      throw new Error(`probe: ${request.method} ${PATH}: ${status} ${raw.toString('utf8')}`)
    this.#times.push(performance.now() - began)
  }
}
