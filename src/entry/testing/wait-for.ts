/**
 * Waits for a condition. It is checked at each write, and also periodically because it may depend
 * on state outside the cluster.
 */
import { TIMER_MS_MAX } from '../../lib/time/timers.ts'

export type WaitOptions = {
  /**
   * The timeout in milliseconds. The default is 30 s, because a CI machine may stall for seconds.
   */
  readonly timeoutMs?: number
  /** The awaited state, such as "the pod", for the error message. */
  readonly what?: string
}

const TIMEOUT_MS = 30_000
/** Interval of the periodic checks. */
const POLL_MS = 25
/** Minimum time for a check, even if it begins just before the timeout. */
const ANSWER_MS_MIN = 1_000

/** The values that a condition returns while it does not hold. */
export type NotYet = undefined | null | false | '' | 0

/** Calls `run` once, at the next write. Returns a function that cancels the call. */
export type OnWrite = (run: () => void) => () => void

/**
 * Returns the first value of the condition that is not empty. If the condition throws, it is
 * checked again. If it never holds, the returned error has the last error of the condition as its
 * cause.
 */
export async function waitFor<T>(
  condition: () => T | NotYet | Promise<T | NotYet>,
  onWrite: OnWrite,
  { timeoutMs = TIMEOUT_MS, what = 'the condition' }: WaitOptions = {},
): Promise<T> {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const next = Promise.withResolvers<void>()
    // The callback is registered before the condition is checked, so that no write is missed.
    const leave = onWrite(next.resolve)
    const timer = setTimeout(next.resolve, POLL_MS)
    try {
      const { value, cause, isLate } = await check(condition, endMs)
      if (holds(value)) return value
      if (performance.now() >= endMs || isLate === true) {
        const why = isLate === true ? ': the last check did not finish' : ''
        throw new Error(
          `timed out after ${timeoutMs} ms waiting for ${what}${why}`,
          cause === undefined ? {} : { cause },
        )
      }
      await next.promise
    } finally {
      leave()
      clearTimeout(timer)
    }
  }
}

type CheckResult<T> = { readonly value?: T; readonly cause?: unknown; readonly isLate?: true }

/**
 * Checks the condition once, with a time limit, because the condition may wait for a server that
 * does not respond.
 */
async function check<T>(condition: () => T | Promise<T>, endMs: number): Promise<CheckResult<T>> {
  const late = Promise.withResolvers<CheckResult<T>>()
  const leftMs = Math.max(endMs - performance.now(), ANSWER_MS_MIN)
  const timer = setTimeout(() => late.resolve({ isLate: true }), Math.min(leftMs, TIMER_MS_MAX))
  try {
    return await Promise.race([ask(condition), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

async function ask<T>(condition: () => T | Promise<T>): Promise<CheckResult<T>> {
  try {
    return { value: await condition() }
  } catch (cause) {
    return { cause }
  }
}

const holds = <T>(value: T | NotYet): value is T =>
  value !== undefined && value !== null && value !== false && value !== '' && value !== 0
