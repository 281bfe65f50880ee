/**
 * Waits for a condition: it is checked whenever something was written, and now and then for what is
 * outside of the cluster.
 */
import { TIMER_MS_MAX } from '../../lib/time/timers.ts'

export type WaitOptions = {
  /**
   * Fails when this time is over; 30 s by default, since a machine of CI may stand still for
   * seconds.
   */
  readonly timeoutMs?: number
  /** What is waited for, in the error. */
  readonly what?: string
}

const TIMEOUT_MS = 30_000
/** Conditions may look at something else than the cluster. */
const POLL_MS = 25
/** How long a condition that was asked late may take to answer. */
const ANSWER_MS_MIN = 1_000

/** What a condition returns while it does not hold. */
export type NotYet = undefined | null | false | '' | 0

/** Calls back once, at the next write. Returns how to leave. */
export type OnWrite = (run: () => void) => () => void

/**
 * The first value of the condition that is not empty. A condition that throws does not hold yet; if
 * it never does, its last error is the cause of the error.
 */
export async function waitFor<T>(
  condition: () => T | NotYet | Promise<T | NotYet>,
  onWrite: OnWrite,
  { timeoutMs = TIMEOUT_MS, what = 'the condition' }: WaitOptions = {},
): Promise<T> {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const next = Promise.withResolvers<void>()
    // From before the condition is checked: what is written meanwhile counts.
    const leave = onWrite(next.resolve)
    const timer = setTimeout(next.resolve, POLL_MS)
    try {
      const { value, cause, isLate } = await check(condition, endMs)
      if (holds(value)) return value
      if (performance.now() >= endMs || isLate === true) {
        const why = isLate === true ? ': the condition was asked and has not answered' : ''
        throw new Error(
          `${what} did not hold within ${timeoutMs} ms${why}`,
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

/** A condition may wait for a server that does not answer. */
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
