/**
 * Waiting in tests. A test that sleeps a while and then looks passes on the machine of who wrote
 * it; one that waits for what must come passes on a machine that stands still for seconds.
 */
import { fail } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Far longer than anything takes that is waited for here: who sees this time pass has found a
 * fault, not a busy machine.
 */
export const PATIENCE_MS = 60_000
/**
 * For what a file's watcher tells: shorter than the time after which files are looked at in any
 * case, which is 60 s.
 */
export const WATCHED_MS = 20_000
const POLL_MS = 10

/** Comes back when it holds; fails, saying what did not come true, when patience is over. */
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
