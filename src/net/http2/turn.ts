/**
 * Limits how much is written to sockets in one tick of the event loop. TLS encrypts written data
 * immediately, on this thread: a hundred clients that read long lists, with a quarter of a megabyte
 * for each, would make a tick last 30 ms. Each tick therefore has a budget for long writes, which
 * the connections use in turn. Short writes never wait.
 */
import { Deque } from '../../lib/collections/deque.ts'
import { type Defer, turnEnd } from '../../lib/time/turn-end.ts'

/**
 * Budget for long writes in a tick: about half a millisecond, including copies and system calls.
 * Each connection makes one write of 64 KB in a tick, so four clients use up the budget.
 */
const TURN_BYTES = 256 * 1024
/**
 * Writes up to this size are short, as most responses are. A connection that has more to send waits
 * for its turn.
 */
const SHORT_BYTES = 16 * 1024

/** An output with something to write in this tick. */
export interface TickWriter {
  /** Collects the data of the tick and writes it. */
  readonly endTurn: () => void
}

/**
 * An output that waits to continue a long write. Each call of `goOn` writes once; for the next
 * write it waits again.
 */
export interface LongWriting {
  readonly goOn: () => void
}

/** The write budget shared by all connections of a listener or of a client. */
export class Turn {
  readonly #defer: Defer
  #waiting: TickWriter[] = []
  readonly #late = new Deque<LongWriting>()
  #left = TURN_BYTES
  #isDue = false
  #isLongDue = false
  /**
   * Whether the waiting outputs are continuing now. The rest of the budget is then reserved for
   * them.
   */
  #isGoingOn = false

  constructor(defer: Defer = turnEnd.defer) {
    this.#defer = defer
  }

  /** Schedules a call of `endTurn` at the end of this tick. */
  add(writing: TickWriter): void {
    this.#waiting.push(writing)
    this.#end()
  }

  /**
   * Whether this many bytes may be written now. If so, they are charged to the budget. Otherwise
   * the caller must wait with `later`.
   */
  takes(bytes: number): boolean {
    if (bytes <= SHORT_BYTES) return true
    if (this.#left <= 0 || (this.#late.length > 0 && !this.#isGoingOn)) return false
    this.#left -= bytes
    this.#deferLong()
    return true
  }

  later(writing: LongWriting): void {
    this.#late.push(writing)
    this.#deferLong()
  }

  #end(): void {
    if (this.#isDue) return
    this.#isDue = true
    this.#defer(this.#onEnd, 'write')
  }

  #deferLong(): void {
    if (this.#isLongDue) return
    this.#isLongDue = true
    this.#defer(this.#onGoOn, 'long')
  }

  readonly #onEnd = (): void => {
    this.#isDue = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const writing of waiting) writing.endTurn()
  }

  readonly #onGoOn = (): void => {
    this.#isLongDue = false
    this.#left = TURN_BYTES
    this.#isGoingOn = true
    // Outputs that begin to wait again are served in the next tick.
    for (let count = this.#late.length; count > 0 && this.#left > 0; count--)
      this.#late.shift()?.goOn()
    this.#isGoingOn = false
    if (this.#late.length > 0) this.#deferLong()
  }
}
