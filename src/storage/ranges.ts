/**
 * Divides the keys of the event feed into ranges, each with its own watch. etcd replays a lagging
 * watch at a few thousand events per second. It replays several watches in parallel, so several
 * watches are faster. The ranges are contiguous, do not overlap, cover all keys, and have about the
 * same traffic. Boundaries are only between resources, because the events of one resource must stay
 * in order. A resource with more than its share of the traffic gets its own range.
 */
import type { Key } from './engine.ts'
import { type KeyRange, rangeOf } from './keys.ts'

/**
 * Maximum number of ranges. etcd replays one lagging watch at 8,000 events per second and 16 of
 * them at 66,000. More watches are not faster.
 */
export const RANGES_MAX = 16

/**
 * Divides all keys into ranges. `traffic` contains the number of events for each resource prefix.
 * Prefixes end with a slash, and no prefix contains another one.
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
