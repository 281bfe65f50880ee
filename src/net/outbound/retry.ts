/**
 * Repeats calls that failed, with a delay that grows exponentially, as upstream repeats calls to
 * webhooks.
 */
import { sleep, type Timers } from '../../lib/time/timers.ts'
import { CallError } from './call-error.ts'

export type Backoff = {
  readonly initialMs: number
  /** Each delay is that many times the one before. */
  readonly factor: number
  /**
   * Up to this part of a delay is added to it at random, so that clients do not come back together.
   */
  readonly jitter: number
  /** The number of calls, with the first one. */
  readonly calls: number
}

/** The backoff of all webhooks, but for its first delay. */
export const webhookBackoff = (initialMs: number): Backoff => ({
  initialMs,
  factor: 1.5,
  jitter: 0.2,
  calls: 5,
})

export type RetryOptions = {
  readonly backoff: Backoff
  readonly shouldRetry?: (error: unknown) => boolean
  readonly timers: Pick<Timers, 'after'>
  readonly random: () => number
  readonly signal?: AbortSignal | undefined
}

/** Fails as the last call did. */
export async function retry<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { backoff, shouldRetry = isTransient, timers, random, signal } = options
  let delayMs = backoff.initialMs
  for (let calls = 1; ; calls++) {
    try {
      return await call()
    } catch (error) {
      if (calls >= backoff.calls || signal?.aborted === true || !shouldRetry(error)) throw error
      try {
        await sleep(timers, delayMs * (1 + random() * backoff.jitter), signal)
      } catch {
        throw error
      }
      delayMs *= backoff.factor
    }
  }
}

const TOO_MANY = 429
const INTERNAL = 500
const UNAVAILABLE = 503

/**
 * Upstream takes each status from 500 on that it does not know for an internal error; 503 it knows,
 * and does not try again.
 */
const isTransientStatus = (status: number): boolean =>
  status === TOO_MANY || (status >= INTERNAL && status !== UNAVAILABLE)

/** Whether a call may well succeed the next time. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof CallError)) return false
  return error.failure === 'reset' || isTransientStatus(error.status) || error.retryAfterSec > 0
}
