/**
 * Runs a well-behaved client (witness.ts) on its own thread, so that the event loop of the
 * attacking program does not delay it.
 */
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { Witness } from './witness.ts'

export type Testimony = {
  readonly answered: number
  readonly slowestMs: number
  readonly failures: readonly string[]
}

/**
 * Starts a witness and waits for its first response. The returned function stops it and returns its
 * results.
 */
export async function startWitness(
  url: string,
  paths: readonly string[],
): Promise<() => Promise<Testimony>> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { url, paths } })
  await once(worker, 'message')
  return async () => {
    const reported = once(worker, 'message')
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage('stop')
    const [testimony]: Testimony[] = await reported
    await worker.terminate()
    if (testimony === undefined) throw new Error('the witness did not report')
    return testimony
  }
}

async function testify({
  url,
  paths,
}: {
  readonly url: string
  readonly paths: readonly string[]
}): Promise<void> {
  const witness = new Witness(url)
  await witness.get('/readyz')
  tell('connected')
  const { latenciesMs, failures } = witness
  let answered = 0
  parentPort?.once('message', () => {
    // Ignore the responses that arrive after the attack.
    answered = latenciesMs.length - failures.length
    witness.stop()
  })
  await witness.run(paths)
  const testimony: Testimony = {
    answered,
    slowestMs: Math.max(0, ...latenciesMs),
    failures,
  }
  tell(testimony)
}

function tell(what: 'connected' | Testimony): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(what)
}

if (!isMainThread) await testify(workerData)
