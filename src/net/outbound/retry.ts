/** Repeats failed calls with exponentially growing delays, as kube-apiserver does for webhooks. */
import { sleep, type Timers } from '../../lib/time/timers.ts'
import { CallError } from './call-error.ts'

export type Backoff = {
  readonly initialMs: number
  /** Each delay is the previous one multiplied by this factor. */
  readonly factor: number
  /**
   * Maximum random addition to a delay, as a fraction of the delay. It prevents clients from
   * retrying simultaneously.
   */
  readonly jitter: number
  /** Maximum number of calls, including the first one. */
  readonly calls: number
}

/**
 * Returns the backoff for calls to webhooks. The first delay is a parameter, because callers use
 * different ones.
 */
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
 * Whether a call is repeated after this error status. As in kube-apiserver, calls are repeated
 * after 429 and after all statuses from 500 on, except 503.
 */
const isTransientStatus = (status: number): boolean =>
  status === TOO_MANY || (status >= INTERNAL && status !== UNAVAILABLE)

/** Whether the call might succeed if it is repeated. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof CallError)) return false
  return error.failure === 'reset' || isTransientStatus(error.status) || error.retryAfterSec > 0
}
