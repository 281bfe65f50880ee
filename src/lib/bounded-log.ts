/** Log entries that clients can cause as often as they like: a burst, then so many per second. The next one says how many were left out. */
import { Bucket } from './bucket.ts'
import type { Clock } from './clock.ts'
import type { Level, Log } from './log.ts'

/** Enough to see what happens; with 200 bytes a line, 170 MB a day at the most. */
const BURST = 100
const PER_SECOND = 10

/** `fields` is called only for an entry that is logged. */
export type BoundedLog = (level: Level, message: string, fields: () => Record<string, unknown>) => void

export function createBoundedLog(log: Log, { monotonicMs }: Pick<Clock, 'monotonicMs'>): BoundedLog {
  const bucket = new Bucket(BURST, PER_SECOND, monotonicMs())
  let leftOut = 0
  return (level, message, fields) => {
    if (!bucket.take(monotonicMs())) {
      leftOut++
      return
    }
    log(level, message, leftOut === 0 ? fields() : { ...fields(), leftOut })
    leftOut = 0
  }
}
