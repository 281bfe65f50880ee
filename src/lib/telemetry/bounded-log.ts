/**
 * A log for entries of which clients can cause any number. It accepts a burst of entries, and after
 * that a limited number of entries and bytes per second. If entries were dropped, the next entry
 * contains their number.
 */
import { TokenBucket } from '../time/token-bucket.ts'
import type { Clock } from '../time/clock.ts'
import type { Level, Log } from './log.ts'

/** Number of entries in a burst. This number is enough to diagnose a problem. */
const BURST = 100
const PER_SECOND = 10
/**
 * Limits for the size of entries, counting only their fields in JSON. At most 216 MB are logged per
 * day.
 */
const BURST_BYTES = 64 << 10
const BYTES_PER_SECOND = 2_500
/**
 * Maximum length of each text in an entry. A client determines such a text, for example by sending
 * a token that is not valid.
 */
const TEXT_CHARACTERS_MAX = 512

/**
 * Logs an entry if the limits allow it. If too many entries were logged, `fields` is not called.
 */
export type BoundedLog = (
  level: Level,
  message: string,
  fields: () => Record<string, unknown>,
) => void

export function createBoundedLog(
  log: Log,
  { monotonicMs }: Pick<Clock, 'monotonicMs'>,
): BoundedLog {
  const entries = new TokenBucket(BURST, PER_SECOND, monotonicMs())
  const bytes = new TokenBucket(BURST_BYTES, BYTES_PER_SECOND, monotonicMs())
  let leftOut = 0
  return (level, message, fields) => {
    const nowMs = monotonicMs()
    const short = entries.take(nowMs) ? shortened(fields()) : undefined
    if (short === undefined || !bytes.take(nowMs, Buffer.byteLength(JSON.stringify(short)))) {
      leftOut++
      return
    }
    log(level, message, leftOut === 0 ? short : { ...short, leftOut })
    leftOut = 0
  }
}

function shortened(fields: Record<string, unknown>): Record<string, unknown> {
  const short: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    const isLong = typeof value === 'string' && value.length > TEXT_CHARACTERS_MAX
    short[name] = isLong
      ? `${value.slice(0, TEXT_CHARACTERS_MAX)}... (${value.length} characters)`
      : value
  }
  return short
}
