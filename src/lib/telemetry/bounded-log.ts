/**
 * A log for entries that clients can cause without limit. After a burst, the number of entries and
 * bytes per second is limited. The next entry that is logged contains the number of dropped
 * entries.
 */
import { TokenBucket } from '../time/token-bucket.ts'
import type { Clock } from '../time/clock.ts'
import type { Level, Log } from './log.ts'

/** Number of entries in a burst, which is enough to diagnose a problem. */
const BURST = 100
const PER_SECOND = 10
/**
 * Limits for the fields of all entries in JSON: at most 216 MB per day. The level, time and message
 * of each entry are not counted.
 */
const BURST_BYTES = 64 << 10
const BYTES_PER_SECOND = 2_500
/**
 * Maximum length of each text in an entry. A text may be a part of a token that was not verified.
 */
const TEXT_CHARACTERS_MAX = 512

/**
 * Logs an entry if the limits allow it. `fields` is called only if the number of entries is within
 * the limit.
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
