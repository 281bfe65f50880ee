/**
 * What is written to sockets in a turn of the event loop. TLS encrypts what it is given at once, on
 * this thread: a hundred clients that read long lists, each of them sent a quarter of a megabyte,
 * make a turn of 30 ms. So a turn sends a limited amount of long writes, of one connection after
 * the other; short ones always go ahead.
 */
import { Deque } from '../../lib/collections/deque.ts'
import { type Defer, turnEnd } from '../../lib/time/turn-end.ts'

/**
 * About half a millisecond, copies and system calls included. Each connection has one write of 64
 * KB in a turn: this is as much as four clients take.
 */
const TURN_BYTES = 256 * 1024
/** Most answers are shorter. A connection that has more to send waits for its turn. */
const SHORT_BYTES = 16 * 1024

/** What has something to write. */
export interface TickWriter {
  /** Gathers what the turn has brought, and writes it. */
  readonly endTurn: () => void
}

/** What waits to go on with a long write. It takes its bytes then, and waits again for the next. */
export interface LongWriting {
  readonly goOn: () => void
}

/** One for all connections of a listener, or of a client. */
export class Turn {
  readonly #defer: Defer
  #waiting: TickWriter[] = []
  readonly #late = new Deque<LongWriting>()
  #left = TURN_BYTES
  #isDue = false
  #isLongDue = false
  /** While those that wait go on, whatever is left is theirs. */
  #isGoingOn = false

  constructor(defer: Defer = turnEnd.defer) {
    this.#defer = defer
  }

  /** `endTurn` is called at the end of this turn. */
  add(writing: TickWriter): void {
    this.#waiting.push(writing)
    this.#end()
  }

  /**
   * Whether so many bytes may be written now; then they count. Otherwise the caller is to wait by
   * `later`.
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
    // Those that wait again meanwhile are served in the next turn.
    for (let count = this.#late.length; count > 0 && this.#left > 0; count--)
      this.#late.shift()?.goOn()
    this.#isGoingOn = false
    if (this.#late.length > 0) this.#deferLong()
  }
}
