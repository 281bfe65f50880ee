import { sleep, systemTimers } from '../../lib/time/timers.ts'

const POLL_MS = 50

export type WaitLimit = { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined }

/**
 * Checks a condition repeatedly. Returns true when it holds, and false when the timeout expires.
 * Rejects if the condition rejects or the signal is aborted.
 */
export async function waitUntil(
  holds: () => Promise<boolean>,
  { timeoutMs, signal }: WaitLimit,
): Promise<boolean> {
  const endMs = performance.now() + timeoutMs
  while (!(await holds())) {
    if (performance.now() >= endMs) return false
    await sleep(systemTimers, POLL_MS, signal)
  }
  return true
}
