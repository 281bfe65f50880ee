/**
 * The end of a server, in upstream's order and with its names in the log: readiness fails, after a
 * delay no more requests are taken, those under way are answered and watches are ended, then
 * everything else stops.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Listener, StopTimes } from '../net/http/listener.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { withTimeout } from '../lib/time/timers.ts'

/**
 * The loops remove this server from objects that others read, which needs etcd: if etcd is down
 * they are not waited for longer than this.
 */
const LOOPS_STOP_MS_MAX = 5_000
/** For everything that stops after the last request: timers, workers, connections to etcd. */
const PARTS_STOP_MS_MAX = 5_000
/**
 * For clients that were told to come again to close their connections, once all else is answered.
 * As upstream.
 */
const REFUSED_MS_MAX = 2_000

export type Stopping = {
  readonly phase: {
    /**
     * Readiness fails while requests are still accepted, so that load balancers use other servers.
     */
    isStopping: boolean
    /** New requests are refused, with a Retry-After. */
    isLeaving: boolean
  }
  readonly tasks: readonly AsyncDisposable[]
  readonly listener: Pick<Listener, 'drain' | 'close'>
  readonly parts: AsyncDisposableStack
  readonly delayMs: number
  readonly times: StopTimes
  /** Whether connections are accepted until the requests under way are answered. */
  readonly sendsRetryAfter: boolean
  readonly log: Log
}

/** Fails if some part does not stop. */
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
    `all requests are answered, but some parts did not stop within ${PARTS_STOP_MS_MAX} ms`,
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

/** False: it has not ended by then. */
const endsIn = (ending: Promise<unknown>, msMax: number): Promise<boolean> =>
  withTimeout(
    ending.then(() => true),
    msMax,
    { onTimeout: () => false },
  )
