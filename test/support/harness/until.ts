/**
 * Functions that wait in tests. A test that sleeps for a fixed time passes only on a fast machine.
 * A test that waits for a condition also passes on a machine that stalls for seconds.
 */
import { fail } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Timeout of waits, far longer than anything that tests wait for, even on a busy machine. If it
 * expires, the cause is a bug.
 */
export const PATIENCE_MS = 60_000
/**
 * Timeout for events of a file watcher. It is shorter than 60 s, because files are read again after
 * that time in any case.
 */
export const WATCHED_MS = 20_000
const POLL_MS = 10

/** Resolves when the condition holds. Fails with `what` when the timeout expires. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const endMs = performance.now() + patienceMs
  while (!(await holds())) {
    if (performance.now() > endMs) fail(`not within ${patienceMs} ms: ${what}`)
    await sleep(POLL_MS)
  }
}
