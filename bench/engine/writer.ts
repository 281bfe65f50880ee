/**
 * A writer in a separate process, so that its CPU time is counted separately. It writes 1 KB values
 * to several resources, 32 at a time, until it is stopped. `startWriter` starts it, and receives
 * the number of acknowledged writes.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { EtcdClient } from '../../src/storage/etcd/client.ts'

const CONCURRENCY = 32

export type WriteSummary = {
  readonly writes: number
  readonly revision: number
  readonly seconds: number
}

export class Writer {
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Stops the writer and returns its summary. */
  stop(): Promise<WriteSummary> {
    this.#child.send('stop')
    return this.done()
  }

  /**
   * Waits until the writer has finished. The returned revision is that of the last acknowledged
   * write.
   */
  async done(): Promise<WriteSummary> {
    const ended = once(this.#child, 'exit')
    const [written] = await once(this.#child, 'message')
    await ended
    return written
  }
}

export type WriterOptions = {
  readonly endpoint: string
  readonly resources: number
  /** Writes per second. 0 means as fast as possible. */
  readonly pace?: number
  /** Number of writes after which the writer stops. */
  readonly count?: number
  readonly keysPerResource?: number
  readonly valueBytes?: number
  /** Whether keys are chosen at random instead of in sequence. */
  readonly random?: boolean
}

export function startWriter(options: WriterOptions): Writer {
  return new Writer(fork(import.meta.filename, [JSON.stringify(options)]))
}

/** Writes `count` values and waits until they are acknowledged. */
export function writeMany(
  options: WriterOptions & { readonly count: number },
): Promise<WriteSummary> {
  return startWriter(options).done()
}

const benchKey = (resource: number, n: number): string =>
  `/registry/bench${resource}/default/object-${n}`

async function main(options: WriterOptions): Promise<void> {
  const {
    endpoint,
    resources,
    pace = 0,
    count = Number.POSITIVE_INFINITY,
    random = false,
  } = options
  const { keysPerResource = 1_000, valueBytes = 1_024 } = options
  await using client = new EtcdClient({ endpoints: [endpoint] })
  let isStopped = false
  process.on('message', () => {
    isStopped = true
  })
  const began = performance.now()
  let started = 0
  let revision = 0
  const lane = async (): Promise<void> => {
    while (!isStopped && started < count) {
      const n = started++
      if (pace > 0) await untilMs(began + (n / pace) * 1000)
      const k = random
        ? Math.floor(Math.random() * keysPerResource)
        : Math.floor(n / resources) % keysPerResource
      const text = `{"kind":"Plain","apiVersion":"v1","metadata":{"name":"object-${k}"},"value":"${n}-`
      const value = Buffer.from(`${text.padEnd(valueBytes - 2, 'x')}"}`)
      const answer = await client.kv.put({ key: Buffer.from(benchKey(n % resources, k)), value })
      revision = Math.max(revision, answer.revision)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, lane))
  const written: WriteSummary = {
    writes: started,
    revision,
    seconds: (performance.now() - began) / 1000,
  }
  await new Promise((resolve) => process.send?.(written, resolve))
  process.disconnect()
}

async function untilMs(atMs: number): Promise<void> {
  const waitMs = atMs - performance.now()
  if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs))
}

if (process.argv[1] === import.meta.filename) await main(JSON.parse(process.argv[2] ?? '{}'))
