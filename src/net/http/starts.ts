/**
 * When requests begin. Whatever begins in one turn of the event loop lengthens it for everybody: hundreds of writes that came
 * together made turns of 200 ms, and a small request waits for two or three turns. So a turn begins a limited number, and the rest
 * waits. Connections take turns, so that one that sends hundreds at once does not delay one that sends a single request.
 */
import { Deque } from '../../lib/deque.ts'
import { type Defer, turnEnd } from '../../lib/turn-end.ts'

/**
 * What a turn may begin: 32 writes, which take 8 to 20 ms with their answers, or 256 reads; the first turn of a burst twice as
 * many. With fewer, answers and calls to etcd are sent in more and smaller pieces: 8 writes to a turn made writes of small objects
 * slower by a fifth.
 */
const TURN_WEIGHT = 256
const WRITE_WEIGHT = 8
/** Reads weigh little, since long lists yield the event loop in slices of their own. */
const READ_WEIGHT = 1

const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export type StartsOptions = {
  readonly defer?: Defer
  /** Flow control decides which writes begin: here they weigh as little as it takes to find out who sends them. */
  readonly isWeighedLater?: boolean
}

export type Starting<Connection> = { readonly connection: Connection; readonly method: string }

export class Starts<Connection, Request extends Starting<Connection>> {
  /** False: the client has gone, and the request was not begun. */
  readonly #start: (request: Request) => boolean
  readonly #defer: Defer
  /** Waiting requests by connection; the first connection is the next in turn. */
  readonly #waiting = new Map<Connection, Deque<Request>>()
  #left = TURN_WEIGHT
  #isDue = false

  readonly #writeWeight: number

  constructor(
    start: (request: Request) => boolean,
    { defer = turnEnd.defer, isWeighedLater = false }: StartsOptions = {},
  ) {
    this.#start = start
    this.#defer = defer
    this.#writeWeight = isWeighedLater ? READ_WEIGHT : WRITE_WEIGHT
  }

  /** Begins the request at once if this turn has room for it. */
  add(request: Request): void {
    if (!this.#isDue) {
      this.#isDue = true
      this.#defer(this.#nextTurn)
    }
    if (this.#left > 0 && this.#waiting.size === 0) {
      this.#begin(request)
      return
    }
    const { connection } = request
    const waiting = this.#waiting.get(connection)
    if (waiting !== undefined) return waiting.push(request)
    const queue = new Deque<Request>()
    queue.push(request)
    this.#waiting.set(connection, queue)
  }

  readonly #nextTurn = (): void => {
    this.#left = TURN_WEIGHT
    for (const [connection, queue] of this.#waiting) {
      // Requests whose clients have gone are dropped.
      for (
        let request = queue.shift();
        request !== undefined && !this.#begin(request);
        request = queue.shift()
      );
      // A connection with more requests is moved to the end, where this loop comes to it again.
      this.#waiting.delete(connection)
      if (queue.length > 0) this.#waiting.set(connection, queue)
      if (this.#left <= 0) break
    }
    this.#isDue = this.#waiting.size > 0
    if (this.#isDue) this.#defer(this.#nextTurn)
  }

  /** False: the client has gone. */
  #begin(request: Request): boolean {
    const weight = readMethods.has(request.method) ? READ_WEIGHT : this.#writeWeight
    const isBegun = this.#start(request)
    if (isBegun) this.#left -= weight
    return isBegun
  }
}
