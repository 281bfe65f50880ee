import { AsyncLocalStorage } from 'node:async_hooks'
import { systemTimers } from '../lib/time/timers.ts'

/** Undefined: there is nothing to start after all. */
type Start = () => AsyncDisposable | undefined

type TurnsOptions = {
  /**
   * One that was not the first could not be started, and no other is after it; what runs is to be
   * stopped.
   */
  readonly onFailed: (error: unknown) => void
  readonly defer?: (run: () => void) => void
}

/**
 * Starts one in each turn of the event loop: each runs code and makes requests that a process has
 * not seen yet, and all together would hold the loop for tens of milliseconds. Fails if the first
 * one cannot be started.
 */
export function startInTurns(
  starts: readonly Start[],
  { onFailed, defer = systemTimers.defer }: TurnsOptions,
): AsyncDisposable {
  const started: AsyncDisposable[] = []
  const left = starts.values()
  let isStopping = false
  // A turn has no asynchronous context, by which parts find what belongs to their server.
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

/** All are told at once, so that none takes up new work while another one ends. */
async function stopTogether(started: readonly AsyncDisposable[]): Promise<void> {
  const ended = await Promise.allSettled(started.map(async (one) => one[Symbol.asyncDispose]()))
  const errors = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  if (errors.length > 0) throw new AggregateError(errors, 'not all could be stopped')
}
