/**
 * How the feed's key space is split into watches. etcd replays a lagging watch at some thousand
 * events a second, and several watches in parallel, so the load is spread: ranges are contiguous,
 * disjoint, cover everything, are split only between resources (one resource's events must stay in
 * one order), and carry about the same traffic. A resource with more than its share gets a range of
 * its own.
 */
import type { Key } from './engine.ts'
import { type KeyRange, rangeOf } from './keys.ts'

/**
 * Measured: one lagging watch is replayed at 8,000 events a second, 16 at 66,000; more add nothing.
 */
export const RANGES_MAX = 16

/** `traffic`: events seen by resource prefix. Prefixes end in a slash and none contains another. */
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
