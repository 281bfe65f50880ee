/**
 * Splits the feed's key space into watches. etcd replays one lagging watch at some thousand events
 * a second, and several watches in parallel, so the load is spread. Ranges are contiguous,
 * disjoint, cover the whole key space, and carry about the same traffic. They are split only
 * between resources, because the events of one resource must stay in order. A resource with more
 * than its share gets its own range.
 */
import type { Key } from './engine.ts'
import { type KeyRange, rangeOf } from './keys.ts'

/**
 * Maximum number of ranges. etcd replays one lagging watch at 8,000 events a second and 16 at
 * 66,000; more add nothing.
 */
export const RANGES_MAX = 16

/**
 * Plans the ranges. `traffic` is the number of events by resource prefix. Prefixes end in a slash,
 * and none contains another.
 */
export function planRanges(root: Key, traffic: ReadonlyMap<Key, number>): KeyRange[] {
  const whole = rangeOf(root)
  const known = [...traffic].filter(([prefix, events]) => events > 0 && prefix.startsWith(root))
  known.sort(([a], [b]) => (a < b ? -1 : 1))
  const share = known.reduce((sum, [, events]) => sum + events, 0) / RANGES_MAX
  const cuts: Key[] = []
  let filled = 0
  for (const [prefix, events] of known) {
    if (filled > 0 && filled + events > share && cuts.length < RANGES_MAX - 1) {
      cuts.push(prefix)
      filled = 0
    }
    filled += events
  }
  return [whole.from, ...cuts].map((from, i) => ({ from, to: cuts[i] ?? whole.to }))
}
