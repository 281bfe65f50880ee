/**
 * Another user that continuously reads a small object, on its own thread. On a busy machine, most
 * of the latency is time spent waiting for a CPU. Therefore this module also measures the CPU time
 * of the server's main thread between the request and its response.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { isMainThread, parentPort, threadId, Worker, workerData } from 'node:worker_threads'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from './client.ts'

const PAUSE_MS = 5

type ReaderOptions = {
  readonly url: string
  readonly token: string
  readonly path: string
  readonly pid: number
}
/** Latencies. `p99Ms` is the 99th percentile in CPU time, `wallMs` the maximum in wall time. */
export type Latencies = {
  readonly count: number
  readonly p99Ms: number
  readonly wallMs: number
  readonly failures: readonly string[]
}

export class Bystander implements AsyncDisposable {
  readonly #worker: Worker

  private constructor(worker: Worker) {
    this.#worker = worker
  }

  static async start(reading: ReaderOptions): Promise<Bystander> {
    const worker = new Worker(new URL(import.meta.url), { workerData: reading })
    await once(worker, 'message')
    return new Bystander(worker)
  }

  /** Returns the latencies since the last call. */
  async latencies(): Promise<Latencies> {
    const reported = once(this.#worker, 'message')
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage('take')
    const [latencies]: Latencies[] = await reported
    if (latencies === undefined) throw new Error('the bystander has ended')
    return latencies
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }
}

/**
 * Returns the CPU time of the main thread of a process in milliseconds. The ID of this thread is
 * the process ID.
 */
function cpuMsOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return Number.NaN
  }
}

async function readOn({ url, token, path, pid }: ReaderOptions): Promise<void> {
  const client = new Client(url)
  let all: { readonly ms: number; readonly wallMs: number }[] = []
  let failures: string[] = []
  let isAsked = false
  parentPort?.on('message', () => {
    isAsked = true
  })
  await client.send({ method: 'GET', path, token })
  tell('started')
  for (;;) {
    const before = cpuMsOf(pid)
    const { status, ms } = await client.send({ method: 'GET', path, token })
    all.push({ ms: Math.min(ms, cpuMsOf(pid) - before), wallMs: ms })
    if (status !== 200) failures.push(`${status}`)
    if (isAsked) {
      isAsked = false
      const sorted = all.toSorted((one, other) => one.ms - other.ms)
      const at = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))]
      tell({
        count: all.length,
        p99Ms: at?.ms ?? 0,
        wallMs: Math.max(...all.map(({ wallMs }) => wallMs)),
        failures,
      })
      all = []
      failures = []
    }
    await sleep(PAUSE_MS)
  }
}

function tell(what: 'started' | Latencies): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(what)
}

if (!isMainThread && threadId !== 0) await readOn(workerData)
