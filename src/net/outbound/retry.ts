/**
 * Repeats failed calls, with a delay that grows exponentially, as kube-apiserver repeats calls to
 * webhooks.
 */
import { sleep, type Timers } from '../../lib/time/timers.ts'
import { CallError } from './call-error.ts'

export type Backoff = {
  readonly initialMs: number
  /** Each delay is the previous one multiplied by this. */
  readonly factor: number
  /**
   * Largest random addition to a delay, as a fraction of it, so that clients do not all retry
   * simultaneously.
   */
  readonly jitter: number
  /** Maximum number of calls, including the first one. */
  readonly calls: number
}

/** Returns the backoff of webhooks. They differ only in the first delay. */
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

/**
 * Repeats the call until it succeeds or must not be retried. Rejects with the error of the last
 * call.
 */
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
 * Whether a status may be transient. kube-apiserver treats every status from 500 on that it does
 * not know as an internal error. It knows 503, and does not retry it.
 */
const isTransientStatus = (status: number): boolean =>
  status === TOO_MANY || (status >= INTERNAL && status !== UNAVAILABLE)

/** Whether a call may well succeed the next time. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof CallError)) return false
  return error.failure === 'reset' || isTransientStatus(error.status) || error.retryAfterSec > 0
}
