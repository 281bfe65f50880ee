/**
 * Which requests begin in a turn of the event loop. A seat says that a request may be served beside the others; but they all share one
 * thread, and whatever begins in one turn lengthens it for everybody. So a turn begins a limited amount of work, taken from the levels in turn,
 * within a level from its flows in turn: who sends hundreds at once waits for himself, not others for him.
 */
import { Deque } from '../../lib/deque.ts'
import { type Defer, turnEnd } from '../../lib/turn-end.ts'

/**
 * What a turn may begin, in the weight of reads: 32 writes, which take 8 to 20 ms with their answers, or 256 reads; the first turn of a burst twice as
 * many. With fewer, answers and calls to etcd are sent in more and smaller pieces: 8 writes to a turn made writes of small objects slower by a fifth.
 */
const TURN_WEIGHT = 256
/** While several flows want to begin: the turn is shorter for it, and that is what those wait for who send little. */
const CONTENDED_TURN_WEIGHT = 64
/** For so many turns after requests of two flows: who sends little comes while a turn of somebody else lasts, and waits for its end. About a second of a busy loop. */
const CONTENDED_TURNS = 200
const WRITE_WEIGHT = 8
/** A read weighs little. A long list has slices of its own, but its first quarter of a megabyte is sent as soon as it begins: it weighs as much as the seats that it takes. */
const READ_WEIGHT = 1

/** What a request adds to the turn in which it begins. */
export const weightOf = (isWrite: boolean, seats: number): number =>
  (isWrite ? WRITE_WEIGHT : READ_WEIGHT) * seats

/** Requests take turns by `level`, within it by `flow`. */
export type Beginning = {
  readonly level: unknown
  readonly flow: unknown
  readonly weight: number
  /** Called in a later turn. False: it ended meanwhile, and nothing was begun. */
  readonly begin: () => boolean
}

type Lane = Map<unknown, Deque<Beginning>>

export class Turns {
  readonly #defer: Defer
  /** The first level, and the first flow of a level, are the next in turn. */
  readonly #lanes = new Map<unknown, Lane>()
  #flows = 0
  #left = TURN_WEIGHT
  #contendedTurns = 0
  #isDue = false

  constructor(defer: Defer = turnEnd.defer) {
    this.#defer = defer
  }

  get waiting(): number {
    let count = 0
    for (const lane of this.#lanes.values()) for (const { length } of lane.values()) count += length
    return count
  }

  /** Requests of several flows came one after the other. */
  contend(): void {
    this.#contendedTurns = CONTENDED_TURNS
    this.#left = Math.min(this.#left, CONTENDED_TURN_WEIGHT)
  }

  /** Whether this turn has room for one more request; then it counts as begun. */
  takes(weight: number): boolean {
    if (!this.#isDue) {
      this.#isDue = true
      this.#defer(this.#nextTurn)
    }
    if (this.#left <= 0 || this.#lanes.size > 0) return false
    this.#left -= weight
    return true
  }

  /** To be called only if this turn does not take it. */
  add(beginning: Beginning): void {
    const { level, flow } = beginning
    const lane: Lane = this.#lanes.get(level) ?? new Map()
    const queue = lane.get(flow) ?? new Deque<Beginning>()
    queue.push(beginning)
    if (queue.length === 1) this.#flows++
    this.#lanes.set(level, lane.set(flow, queue))
  }

  readonly #nextTurn = (): void => {
    const isContended = this.#flows > 1 || this.#contendedTurns > 0
    if (this.#contendedTurns > 0) this.#contendedTurns--
    this.#left = isContended ? CONTENDED_TURN_WEIGHT : TURN_WEIGHT
    for (const [level, lane] of this.#lanes) {
      this.#serveOne(lane)
      // A level with more requests is moved to the end, where this loop comes to it again.
      this.#lanes.delete(level)
      if (lane.size > 0) this.#lanes.set(level, lane)
      if (this.#left <= 0) break
    }
    this.#isDue = this.#lanes.size > 0
    if (this.#isDue) this.#defer(this.#nextTurn)
  }

  /** The next request of the next flow. */
  #serveOne(lane: Lane): void {
    for (const [flow, queue] of lane) {
      const next = queue.shift()
      lane.delete(flow)
      if (queue.length > 0) lane.set(flow, queue)
      else this.#flows--
      if (next === undefined || !next.begin()) continue
      this.#left -= next.weight
      return
    }
  }
}
