/**
 * Stops a server in the same order as kube-apiserver, with the same event names in the log. First
 * the server reports that it is not ready. After a delay, it no longer accepts new requests,
 * completes the requests in progress and ends watches. Then all other components stop.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Listener, StopTimes } from '../net/http/listener.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { withTimeout } from '../lib/time/timers.ts'

/**
 * Maximum time to wait until the background tasks have stopped. They remove this server from
 * objects that other programs read, which is impossible while etcd is down.
 */
const LOOPS_STOP_MS_MAX = 5_000
/**
 * Maximum time to stop everything after the last request, such as timers, workers and connections
 * to etcd.
 */
const PARTS_STOP_MS_MAX = 5_000
/**
 * After a Retry-After header was sent and all requests are completed, clients have this time to
 * close their connections. The value is the same as in kube-apiserver.
 */
const REFUSED_MS_MAX = 2_000

export type Stopping = {
  readonly phase: {
    /**
     * The server reports that it is not ready while it still accepts requests, so that load
     * balancers use other servers.
     */
    isStopping: boolean
    /** New requests are refused with a Retry-After header. */
    isLeaving: boolean
  }
  readonly tasks: readonly AsyncDisposable[]
  readonly listener: Pick<Listener, 'drain' | 'close'>
  readonly parts: AsyncDisposableStack
  readonly delayMs: number
  readonly times: StopTimes
  /**
   * Whether connections are accepted until the requests in progress are completed. New requests can
   * then be refused with a Retry-After header.
   */
  readonly sendsRetryAfter: boolean
  readonly log: Log
}

/** Stops the server. Fails if any part does not stop. */
export async function stopAll(stopping: Stopping): Promise<void> {
  const { phase, tasks, parts, delayMs, log } = stopping
  const report = (name: string): void =>
    log('info', '[graceful-termination] shutdown event', { name })
  phase.isStopping = true
  report('ShutdownInitiated')
  const tasksEnded = Promise.all(tasks.map((loop) => loop[Symbol.asyncDispose]()))
  await Promise.all([
    sleep(delayMs).then(() => report('AfterShutdownDelayDuration')),
    endsIn(Promise.allSettled([tasksEnded]), LOOPS_STOP_MS_MAX).then(() =>
      report('PreShutdownHooksStopped'),
    ),
  ])
  report('NotAcceptingNewRequest')
  await (stopping.sendsRetryAfter ? refuseAndClose(stopping, report) : close(stopping, report))
  const allEnded = Promise.all([parts.disposeAsync(), tasksEnded])
  if (await endsIn(allEnded, PARTS_STOP_MS_MAX)) return
  throw new Error(
    `all requests were answered, but some parts of the server did not stop within ${PARTS_STOP_MS_MAX} ms`,
  )
}

async function close({ listener, times }: Stopping, report: (name: string) => void): Promise<void> {
  const closed = listener.close(times)
  report('HTTPServerStoppedListening')
  await closed
  report('InFlightRequestsDrained')
}

async function refuseAndClose(
  { phase, listener, times }: Stopping,
  report: (name: string) => void,
): Promise<void> {
  phase.isLeaving = true
  await listener.drain(times)
  report('InFlightRequestsDrained')
  const closed = listener.close({ graceMs: REFUSED_MS_MAX })
  report('HTTPServerStoppedListening')
  await closed
}

/** Waits until the promise settles, and returns whether it settled in time. */
const endsIn = (ending: Promise<unknown>, msMax: number): Promise<boolean> =>
  withTimeout(
    ending.then(() => true),
    msMax,
    { onTimeout: () => false },
  )
