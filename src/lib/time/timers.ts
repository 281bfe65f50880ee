/** Timers are injected, so that a simulation can determine the order of events. */
import { type Clock, systemClock } from './clock.ts'
import { type Defer, turnEnd } from './turn-end.ts'

/** A pending callback; `close` cancels it. */
export type Timer = { close(): unknown }

export type Timers = {
  /** Calls `run` once after this number of milliseconds, but after 24 days at the latest. */
  readonly after: (ms: number, run: () => void) => Timer
  /** Calls `run` periodically, at least every 24 days. Does not keep the process alive. */
  readonly every: (ms: number, run: () => void) => Timer
  /** Calls `run` at the end of the current tick of the event loop, or of the next one. */
  readonly defer: Defer
}

export type Time = Clock & Timers

/** The longest delay of a Node timer: 24 days. A timer with a longer delay fires after 1 ms. */
export const TIMER_MS_MAX = 2 ** 31 - 1

export const systemTimers: Timers = {
  after: (ms, run) => setTimeout(run, Math.min(ms, TIMER_MS_MAX)),
  every: (ms, run) => setInterval(run, Math.min(ms, TIMER_MS_MAX)).unref(),
  defer: turnEnd.defer,
}

export const systemTime: Time = { ...systemClock, ...systemTimers }

/**
 * Resolves after this time. If the signal is aborted first, fails with the reason of the signal.
 */
export async function sleep(
  { after }: Pick<Timers, 'after'>,
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = after(ms, resolve)
  const onAbort = (): void => {
    timer.close()
    reject(signal?.reason)
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    await promise
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Returns a signal that is aborted after this time, unless the signal is disposed of earlier. */
export function deadline(
  { after }: Pick<Timers, 'after'>,
  ms: number,
): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const timer = after(ms, () =>
    controller.abort(new DOMException('The operation timed out', 'TimeoutError')),
  )
  return { signal: controller.signal, [Symbol.dispose]: () => void timer.close() }
}

export type TimeoutOptions<T> = {
  /**
   * Called when the work takes too long. Returns the result that replaces that of the work, or
   * throws.
   */
  readonly onTimeout: () => T
  readonly timers?: Pick<Timers, 'after'>
}

/**
 * The callbacks that wait for each promise. The promise has only one reaction, which calls all of
 * them. If callers stop waiting for a promise that never settles, nothing of them stays in memory.
 */
const waiting = new WeakMap<Promise<unknown>, Set<() => void>>()

function waitersOf(work: Promise<unknown>): Set<() => void> {
  const known = waiting.get(work)
  if (known !== undefined) return known
  const waiters = new Set<() => void>()
  waiting.set(work, waiters)
  const onSettled = (): void => {
    waiting.delete(work)
    for (const report of waiters) report()
  }
  work.then(onSettled, onSettled)
  return waiters
}

/**
 * Returns the result of the work. If the work takes longer than this time, returns the result of
 * `onTimeout`, and ignores a later result or error of the work.
 */
export function withTimeout<T>(
  work: Promise<T>,
  msMax: number,
  { onTimeout, timers = systemTimers }: TimeoutOptions<T>,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const waiters = waitersOf(work)
  const expire = (): void => {
    waiters.delete(onSettled)
    try {
      resolve(onTimeout())
    } catch (error) {
      reject(error)
    }
  }
  // Round to whole milliseconds, because Node keeps one list of timers for each distinct duration.
  const timer = timers.after(Math.max(0, Math.ceil(msMax)), expire)
  const onSettled = (): void => {
    timer.close()
    resolve(work)
  }
  waiters.add(onSettled)
  return promise
}

export type OwnTimeoutOptions<T> = TimeoutOptions<T> & {
  /**
   * Returns true if the work has its own deadline and this deadline has passed. The work may have
   * failed only because of that, so its error is replaced by the result of `onTimeout`.
   */
  readonly isTimedOut?: () => boolean
}

/**
 * Does the same as `withTimeout`, but faster. Use it only if no other caller waits for the same
 * promise.
 */
export function withOwnTimeout<T>(
  work: Promise<T>,
  msMax: number,
  { onTimeout, isTimedOut = never, timers = systemTimers }: OwnTimeoutOptions<T>,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const expire = (): void => {
    try {
      resolve(onTimeout())
    } catch (error) {
      reject(error)
    }
  }
  const timer = timers.after(Math.max(0, Math.ceil(msMax)), expire)
  work.then(
    (result) => {
      timer.close()
      if (isTimedOut()) expire()
      else resolve(result)
    },
    (error: unknown) => {
      timer.close()
      if (isTimedOut()) expire()
      else reject(error)
    },
  )
  return promise
}

const never = (): boolean => false
