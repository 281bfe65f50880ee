/**
 * Determines by how much a rejection is delayed.
 *
 * Some clients retry immediately and ignore `Retry-After`. On a single thread, rejecting them can
 * take more time than serving all other clients. With a thousand connections, such a client would
 * fully occupy the event loop. Therefore, the responses to a flow that is rejected repeatedly are
 * delayed. The flow can then retry at most once per second on each of its connections.
 */
import { boundedKey } from '../../lib/text/bounded-texts.ts'
import { ownText } from '../../lib/text/own-text.ts'

/**
 * Maximum number of rejections of one user that are sent immediately within a second. If a client
 * respects `Retry-After` and has at most this number of concurrent requests, its rejections are not
 * delayed.
 */
const AT_ONCE_MAX = 20
/** Minimum delay. It equals the minimum value of `Retry-After`. */
const HELD_MS = 1000
/**
 * Number of different delays between the minimum and twice the minimum. With equal delays, clients
 * that were rejected together would also retry together, a thousand of them in one tick of the
 * event loop.
 */
const SPREAD = 64
/**
 * Maximum number of delayed rejections. Each of them retains several kilobytes of its request in
 * memory. Further rejections are sent immediately.
 */
const HELD_MAX = 4_000
/** Maximum number of flows that are counted separately within a second. */
const FLOWS_MAX = 10_000

export class HeldRefusals {
  #second = 0
  readonly #refused = new Map<string, number>()
  #held = 0

  get held(): number {
    return this.#held
  }

  /**
   * Returns the delay for a rejection in milliseconds. 0 means that it is sent immediately.
   * Otherwise, the caller must call `end` after the delay.
   */
  holdMs(flow: string, nowMs: number): number {
    const second = Math.floor(nowMs / 1000)
    if (second !== this.#second || this.#refused.size >= FLOWS_MAX) this.#refused.clear()
    this.#second = second
    const key = boundedKey(flow)
    const count = (this.#refused.get(key) ?? 0) + 1
    // Copy the user name, because it might be a slice of a longer string.
    this.#refused.set(count === 1 ? ownText(key) : key, count)
    if (count <= AT_ONCE_MAX || this.#held >= HELD_MAX) return 0
    this.#held++
    return HELD_MS * (1 + (count % SPREAD) / SPREAD)
  }

  end(): void {
    this.#held--
  }
}
