/**
 * Limits how much data is written to sockets in one tick of the event loop. TLS encrypts written
 * data immediately, on the main thread. If a hundred clients read long lists and each got 256 KB in
 * the same tick, the tick would take 30 ms. Therefore each tick has a budget for long writes, and
 * connections take turns in using it. Short writes never wait.
 */
import { Deque } from '../../lib/collections/deque.ts'
import { type Defer, turnEnd } from '../../lib/time/turn-end.ts'

/**
 * Budget for long writes in a tick. Writing this much takes about half a millisecond, including
 * copies and system calls. Each connection writes 64 KB in a tick, so four connections use up the
 * budget.
 */
const TURN_BYTES = 256 * 1024
/**
 * Maximum size of a short write. Most responses are shorter. A connection that has more to send
 * waits for its turn.
 */
const SHORT_BYTES = 16 * 1024

/** The output of a connection that has something to write at the end of this tick. */
export interface TickWriter {
  /** Writes the data that was collected during the tick. */
  readonly endTurn: () => void
}

/**
 * An output that continues a long write in a later tick. `goOn` writes the next piece. If there is
 * more to write, the output waits again.
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
   * Whether the waiting outputs continue at the moment. While they do, new long writes must wait.
   */
  #isGoingOn = false

  constructor(defer: Defer = turnEnd.defer) {
    this.#defer = defer
  }

  /** Calls `writing.endTurn` at the end of this tick. */
  add(writing: TickWriter): void {
    this.#waiting.push(writing)
    this.#end()
  }

  /**
   * Returns whether this number of bytes can be written now. If so, they are subtracted from the
   * budget. Otherwise the caller must wait with `later`.
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
    // Outputs that start to wait during this loop are served in the next tick.
    for (let count = this.#late.length; count > 0 && this.#left > 0; count--)
      this.#late.shift()?.goOn()
    this.#isGoingOn = false
    if (this.#late.length > 0) this.#deferLong()
  }
}
