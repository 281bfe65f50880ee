/**
 * How long a refusal is held back. A client that asks again at once, whatever `Retry-After` says,
 * costs a single thread more by being refused than others cost by being served: on a thousand
 * connections it would keep the loop busy with nothing else. So a flow that is refused again and
 * again is answered late, and asks no more often than once a second on each of its connections.
 */
import { boundedKey } from '../../lib/text/bounded-texts.ts'
import { ownText } from '../../lib/text/own-text.ts'

/**
 * Refusals of one user that are answered at once in a second: one who obeys, and has no more than
 * this many requests at once, sees no other.
 */
const AT_ONCE_MAX = 20
/** What `Retry-After` says at least, … */
const HELD_MS = 1000
/**
 * … and up to as much again, by their number: those that came together would ask again together, a
 * thousand in one turn of the loop.
 */
const SPREAD = 64
/** Each keeps its request in memory, some kilobytes; beyond this many they are answered at once. */
const HELD_MAX = 4_000
/** Flows that are told apart within a second. */
const FLOWS_MAX = 10_000

export class HeldRefusals {
  #second = 0
  readonly #refused = new Map<string, number>()
  #held = 0

  get held(): number {
    return this.#held
  }

  /** For a refusal now; 0: it is answered at once. Whoever holds it calls `end` afterwards. */
  holdMs(flow: string, nowMs: number): number {
    const second = Math.floor(nowMs / 1000)
    if (second !== this.#second || this.#refused.size >= FLOWS_MAX) this.#refused.clear()
    this.#second = second
    const key = boundedKey(flow)
    const count = (this.#refused.get(key) ?? 0) + 1
    // The name of a user may be a part of a longer text.
    this.#refused.set(count === 1 ? ownText(key) : key, count)
    if (count <= AT_ONCE_MAX || this.#held >= HELD_MAX) return 0
    this.#held++
    return HELD_MS * (1 + (count % SPREAD) / SPREAD)
  }

  end(): void {
    this.#held--
  }
}
