/**
 * Decides how long a refusal is held back. On a single thread, refusing a client that retries
 * immediately, whatever `Retry-After` says, can cost more than serving the others. On a thousand
 * connections, such a client would keep the event loop busy with nothing else. So a flow that is
 * refused repeatedly gets its responses late, and retries at most once per second on each of its
 * connections.
 */
import { boundedKey } from '../../lib/text/bounded-texts.ts'
import { ownText } from '../../lib/text/own-text.ts'

/**
 * Maximum number of refusals of one user that are sent immediately in a second. A client that obeys
 * `Retry-After`, and has at most this many requests at once, sees no others.
 */
const AT_ONCE_MAX = 20
/** Minimum delay, which is also the minimum of `Retry-After`. */
const HELD_MS = 1000
/**
 * Number of steps between the minimum delay and twice the minimum. Without them, clients that were
 * refused together would retry together, a thousand in one tick of the event loop.
 */
const SPREAD = 64
/**
 * Maximum number of delayed refusals, because each keeps some kilobytes of its request in memory.
 * Refusals beyond it are sent immediately.
 */
const HELD_MAX = 4_000
/** Maximum number of flows that are distinguished within a second. */
const FLOWS_MAX = 10_000

export class HeldRefusals {
  #second = 0
  readonly #refused = new Map<string, number>()
  #held = 0

  get held(): number {
    return this.#held
  }

  /**
   * Returns the delay of a refusal that happens now, or 0 to send it immediately. After a delay,
   * the caller must call `end`.
   */
  holdMs(flow: string, nowMs: number): number {
    const second = Math.floor(nowMs / 1000)
    if (second !== this.#second || this.#refused.size >= FLOWS_MAX) this.#refused.clear()
    this.#second = second
    const key = boundedKey(flow)
    const count = (this.#refused.get(key) ?? 0) + 1
    // The name of a user may be a slice of a longer string, so copy it.
    this.#refused.set(count === 1 ? ownText(key) : key, count)
    if (count <= AT_ONCE_MAX || this.#held >= HELD_MAX) return 0
    this.#held++
    return HELD_MS * (1 + (count % SPREAD) / SPREAD)
  }

  end(): void {
    this.#held--
  }
}
