/**
 * Waiting as a part that is handed in, so that a simulation can decide when what happens. With a Clock it is all that a part
 * may know of time.
 */
import { type Clock, systemClock } from './clock.ts'

/** Something that will happen unless it is closed before. */
export type Timer = { close(): unknown }

export type Timers = {
  /** Once, after this many milliseconds. */
  readonly after: (ms: number, run: () => void) => Timer
  /** Again and again; does not keep the process alive. */
  readonly every: (ms: number, run: () => void) => Timer
  /** In a turn of the event loop of its own, after what has happened already. */
  readonly soon: (run: () => void) => void
}

export type Time = Clock & Timers

export const systemTimers: Timers = {
  after: (ms, run) => setTimeout(run, ms),
  every: (ms, run) => setInterval(run, ms).unref(),
  soon: (run) => void setImmediate(run),
}

export const systemTime: Time = { ...systemClock, ...systemTimers }

/** Fails with the signal's reason when it is aborted meanwhile. */
export async function sleep({ after }: Pick<Timers, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
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

/** A signal that is aborted after this time, unless it is disposed of before. */
export function deadline({ after }: Pick<Timers, 'after'>, ms: number): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const timer = after(ms, () => controller.abort(new DOMException('The operation timed out', 'TimeoutError')))
  return { signal: controller.signal, [Symbol.dispose]: () => void timer.close() }
}

export type InTime<T> = {
  /** The answer of who waits no longer: a value, or an error that it throws. */
  readonly late: () => T
  readonly timers?: Pick<Timers, 'after'>
}

/** Told when a promise has settled. One reaction for all of them: those who gave up leave nothing with a promise that never settles. */
const waiting = new WeakMap<Promise<unknown>, Set<() => void>>()

function waitersOf(work: Promise<unknown>): Set<() => void> {
  const known = waiting.get(work)
  if (known !== undefined) return known
  const waiters = new Set<() => void>()
  waiting.set(work, waiters)
  const onSettled = (): void => {
    waiting.delete(work)
    for (const tell of waiters) tell()
  }
  work.then(onSettled, onSettled)
  return waiters
}

/** What the work comes to within this time. Of what becomes of it later nobody hears. */
export function inTime<T>(work: Promise<T>, msMax: number, { late, timers = systemTimers }: InTime<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const waiters = waitersOf(work)
  const onLate = (): void => {
    waiters.delete(onSettled)
    try {
      resolve(late())
    } catch (error) {
      reject(error)
    }
  }
  // Whole milliseconds: Node keeps one list of timers for each time that is asked for.
  const timer = timers.after(Math.max(0, Math.ceil(msMax)), onLate)
  const onSettled = (): void => {
    timer.close()
    resolve(work)
  }
  waiters.add(onSettled)
  return promise
}
