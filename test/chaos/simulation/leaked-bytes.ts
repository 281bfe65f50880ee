import type { Cache } from '../../../src/storage/cache/cache.ts'
import { sleep, type Timers } from '../../../src/lib/time/timers.ts'

/**
 * Number of checks, and the time between them. The cache releases objects in several steps, and has
 * finished long before the last check.
 */
const CHECKS_MAX = 100
const CHECK_MS = 10

/** Returns the bytes of objects that the cache still keeps after all its resources were removed. */
export async function countLeakedBytes(cache: Cache, timers: Timers): Promise<number> {
  for (let checks = 0; cache.stats().liveBytes > 0 && checks < CHECKS_MAX; checks++)
    await sleep(timers, CHECK_MS)
  return cache.stats().liveBytes
}
