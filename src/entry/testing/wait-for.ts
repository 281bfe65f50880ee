/**
 * Waits for a condition. The condition is checked at each write, and also periodically because it
 * may depend on state outside the cluster.
 */
import { messageOf } from '../../lib/errors.ts'
import { TIMER_MS_MAX } from '../../lib/time/timers.ts'
import { cut, describeValue } from './explain-wait.ts'

export type WaitOptions = {
  /**
   * The timeout in milliseconds. The default is 30 s, because a CI machine may stall for seconds.
   */
  readonly timeoutMs?: number
  /** The awaited state, such as "the pod". The error message contains this text. */
  readonly what?: string
}

const TIMEOUT_MS = 30_000
/** Interval of the periodic checks. */
const POLL_MS = 25
/**
 * Minimum time limit of a check. It also applies to a check that begins just before the timeout.
 */
const ANSWER_MS_MIN = 1_000

/** The values that a condition returns as long as it does not hold. */
export type NotYet = undefined | null | false | '' | 0

/** Calls `run` once, at the next write. Returns a function that cancels the call. */
export type OnWrite = (run: () => void) => () => void

export type Condition<T> = () => T | NotYet | Promise<T | NotYet>

/** The functions and texts that `waitFor` needs in addition to the condition and the options. */
export type WaitTools = {
  readonly onWrite: OnWrite
  /** The source code of the condition, which the error message contains. */
  readonly text?: string | undefined
  /** Describes the last value that the condition has returned. By default, the value is printed. */
  readonly describe?: (() => string) | undefined
  /** Returns lines for the error message that explain why the condition does not hold. */
  readonly explain: () => readonly string[]
}

/**
 * Returns the first value of the condition that is not empty. If the condition throws, it is
 * checked again. If the condition never holds, throws an error whose cause is the last error of the
 * condition.
 */
export async function waitFor<T>(
  condition: Condition<T>,
  tools: WaitTools,
  { timeoutMs = TIMEOUT_MS, what = 'the condition' }: WaitOptions = {},
): Promise<T> {
  const endMs = performance.now() + timeoutMs
  let last: CheckResult<T | NotYet> = { isLate: true }
  for (;;) {
    const next = Promise.withResolvers<void>()
    // The callback is registered before the condition is checked, so that no write is missed.
    const leave = tools.onWrite(next.resolve)
    const timer = setTimeout(next.resolve, POLL_MS)
    try {
      const result = await check(condition, endMs)
      if (holds(result.value)) return result.value
      const isLate = result.isLate === true
      if (!isLate) last = result
      if (performance.now() >= endMs || isLate) {
        const why = isLate ? ': the last check did not finish' : ''
        const title = `timed out after ${timeoutMs} ms waiting for ${what}${why}`
        throw createError(title, last, tools)
      }
      await next.promise
    } finally {
      leave()
      clearTimeout(timer)
    }
  }
}

const CONDITION_CHARACTERS_MAX = 200

/**
 * Creates the error for a condition that did not hold in time. `last` is the result of the last
 * check that finished.
 */
function createError<T>(title: string, last: CheckResult<T>, tools: WaitTools): Error {
  const { text, describe = () => describeValue(last.value), explain } = tools
  const lines = [
    ...(text === undefined ? [] : [`condition: ${cut(text, CONDITION_CHARACTERS_MAX)}`]),
    ...(last.isLate === true ? [] : [describeResult(last, describe)]),
    ...explain(),
  ]
  const message = [title, ...lines.map((line) => `  ${line}`)].join('\n')
  return new Error(message, 'cause' in last ? { cause: last.cause } : {})
}

const describeResult = <T>(last: CheckResult<T>, describe: () => string): string =>
  'cause' in last
    ? `last error: ${cut(messageOf(last.cause), ERROR_CHARACTERS_MAX)}`
    : `last value: ${describe()}`

const ERROR_CHARACTERS_MAX = 300

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
