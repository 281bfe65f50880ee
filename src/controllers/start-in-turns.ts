import { AsyncLocalStorage } from 'node:async_hooks'
import { systemTimers } from '../lib/time/timers.ts'

/** Starts something. Returns undefined if there is nothing to start after all. */
type Start = () => AsyncDisposable | undefined

type TurnsOptions = {
  /**
   * Called when a start other than the first fails. The remaining ones do not run, and the caller
   * must stop what was started.
   */
  readonly onFailed: (error: unknown) => void
  readonly defer?: (run: () => void) => void
}

/**
 * Runs one start per tick of the event loop. Each start runs code and makes requests that are new
 * to the process, and all of them together would block the loop for tens of milliseconds. Throws if
 * the first start fails.
 */
export function startInTurns(
  starts: readonly Start[],
  { onFailed, defer = systemTimers.defer }: TurnsOptions,
): AsyncDisposable {
  const started: AsyncDisposable[] = []
  const left = starts.values()
  let isStopping = false
  // A deferred call has no asynchronous context, through which code finds the parts of its server.
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

/** Stops all at the same time, so that none takes up new work while another one is ending. */
async function stopTogether(started: readonly AsyncDisposable[]): Promise<void> {
  const ended = await Promise.allSettled(started.map(async (one) => one[Symbol.asyncDispose]()))
  const errors = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  if (errors.length > 0) throw new AggregateError(errors, 'some controllers could not be stopped')
}
