import { AsyncLocalStorage } from 'node:async_hooks'
import { systemTimers } from '../lib/time/timers.ts'

/** Starts a controller. Returns undefined if the controller is not needed. */
type Start = () => AsyncDisposable | undefined

type TurnsOptions = {
  /**
   * Called when a controller other than the first one cannot be started. No further controllers are
   * started. The caller must then stop the controllers that run.
   */
  readonly onFailed: (error: unknown) => void
  readonly defer?: (run: () => void) => void
}

/**
 * Starts one controller per tick of the event loop. Each start takes some milliseconds, because it
 * sends requests and runs code that V8 has not compiled yet. All starts together would block the
 * event loop. Throws if the first start fails.
 */
export function startInTurns(
  starts: readonly Start[],
  { onFailed, defer = systemTimers.defer }: TurnsOptions,
): AsyncDisposable {
  const started: AsyncDisposable[] = []
  const left = starts.values()
  let isStopping = false
  // The controllers are started later, when the asynchronous context of the server is gone. Save it
  // now, and restore it for each start.
  const inContext = AsyncLocalStorage.snapshot()
  const startNext = (): void => {
    const next = left.next()
    if (isStopping || next.done === true) return
    const one = inContext(next.value)
    if (one !== undefined) started.push(one)
    defer(startLater)
  }
  const startLater = (): void => {
    try {
      startNext()
    } catch (error) {
      onFailed(error)
    }
  }
  startNext()
  return {
    [Symbol.asyncDispose]: async () => {
      isStopping = true
      await stopTogether(started)
    },
  }
}

/**
 * Stops all controllers in parallel, so that none of them begins new work while another one is
 * stopping.
 */
async function stopTogether(started: readonly AsyncDisposable[]): Promise<void> {
  const ended = await Promise.allSettled(started.map(async (one) => one[Symbol.asyncDispose]()))
  const errors = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  if (errors.length > 0) throw new AggregateError(errors, 'some controllers could not be stopped')
}
