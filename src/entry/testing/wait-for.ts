/**
 * Waits for a condition. It is checked at each write and periodically, because it may depend on
 * things outside of the cluster.
 */
import { TIMER_MS_MAX } from '../../lib/time/timers.ts'

export type WaitOptions = {
  /**
   * The time after which waiting fails; 30 s by default, because a CI machine may stall for
   * seconds.
   */
  readonly timeoutMs?: number
  /** The thing that is waited for, such as "the pod", for the error. */
  readonly what?: string
}

const TIMEOUT_MS = 30_000
/** Interval of checks that do not follow a write. */
const POLL_MS = 25
/** Minimum time for a check that begins late. */
const ANSWER_MS_MIN = 1_000

/** The values that a condition returns while it does not hold. */
export type NotYet = undefined | null | false | '' | 0

/** Calls back once, at the next write. Returns a function that cancels this. */
export type OnWrite = (run: () => void) => () => void

/**
 * Returns the first value of the condition that is not empty. A condition that throws does not hold
 * yet. If it never holds, its last error is the cause of the error.
 */
export async function waitFor<T>(
  condition: () => T | NotYet | Promise<T | NotYet>,
  onWrite: OnWrite,
  { timeoutMs = TIMEOUT_MS, what = 'the condition' }: WaitOptions = {},
): Promise<T> {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const next = Promise.withResolvers<void>()
    // Registered before the condition is checked, so that no write is missed.
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

/** Checks the condition once, with a time limit: it may wait for a server that does not respond. */
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
