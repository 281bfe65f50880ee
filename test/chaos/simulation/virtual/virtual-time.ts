/**
 * Virtual time that depends only on the seed. `run` runs the next timer that is due, waits until
 * all resulting promises have settled, and continues with the next timer. The same seed therefore
 * always produces the same order of events, and an hour passes within moments.
 */
import { createHash } from 'node:crypto'
import type { Time, Timer } from '../../../../src/lib/time/timers.ts'
import type { Random } from '../random.ts'

/** The original setImmediate, saved before a guard replaces it. */
const realImmediate = setImmediate

/** Waits for a tick of the real event loop. */
export const realTurn = (): Promise<void> => new Promise((resolve) => realImmediate(resolve))

/**
 * Waits until every promise that can settle has settled. Node.js runs a callback of
 * process.nextTick only when no microtasks are left.
 */
const settled = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve))

/**
 * Number of steps between two ticks of the real event loop. Node.js reports unhandled rejections
 * only in such a tick.
 */
const STEPS_PER_TURN = 500

/**
 * Virtual time in ms that passes whenever code reads the clock. It represents the CPU time of the
 * code.
 */
const WORK_MS = 0.001
/**
 * Probability and maximum of an additional delay, in ms, when code reads the clock. The delay
 * represents other work or garbage collection. It can exceed the time slice after which long work
 * pauses.
 */
const HELD_UP_SHARE = 0.02
const HELD_UP_MS_MAX = 3
/** Wall time at the start of a simulation. */
const START_MS = Date.UTC(2026, 0, 1)
/** Number of trace lines that are stored to show the steps before a failure. */
const TRAIL_MAX = 400

/**
 * A timer. A closed timer has no `run` and therefore holds no references, like a closed timer of
 * Node.js.
 */
type DueTimer = { readonly atMs: number; readonly order: number; run: (() => void) | undefined }

export class VirtualTime implements Time {
  readonly #random: Random
  readonly #onLine: (line: string) => void
  readonly #due: DueTimer[] = []
  readonly #hash = createHash('sha256')
  readonly #trail: string[] = []
  #nowMs = 0
  #orders = 0
  #steps = 0

  /** Creates a virtual time. `onLine` is called with every line of the trace. */
  constructor(random: Random, onLine: (line: string) => void = () => undefined) {
    this.#random = random
    this.#onLine = onLine
  }

  readonly monotonicMs = (): number => {
    this.work(this.#random.chance(HELD_UP_SHARE) ? this.#random.next() * HELD_UP_MS_MAX : WORK_MS)
    return this.#nowMs
  }

  readonly wallMs = (): number => START_MS + Math.floor(this.#nowMs)

  readonly after = (ms: number, run: () => void): Timer => this.#add(Math.max(ms, 0), run)

  readonly every = (ms: number, run: () => void): Timer => {
    let next = this.#add(ms, () => again())
    const again = (): void => {
      next = this.#add(ms, again)
      run()
    }
    return { close: () => next.close() }
  }

  readonly defer = (run: () => void): void => void this.#add(0, run)

  /** Current time for the simulation itself. Reading it does not advance the time. */
  get nowMs(): number {
    return this.#nowMs
  }

  get steps(): number {
    return this.#steps
  }

  /** Number of pending timers. */
  get pending(): number {
    return this.#due.filter(({ run }) => run !== undefined).length
  }

  /** Simulates work that takes CPU time. */
  work(ms: number): void {
    this.#nowMs += ms
  }

  /**
   * Records a line of the trace. Two runs of one seed must have the same lines, or the simulation
   * is not deterministic.
   */
  note(line: string): void {
    const text = `${this.#nowMs.toFixed(3)} ${line}\n`
    this.#hash.update(text)
    this.#onLine(text)
    this.#trail.push(text)
    if (this.#trail.length > TRAIL_MAX) this.#trail.splice(0, this.#trail.length - TRAIL_MAX / 2)
  }

  get trail(): readonly string[] {
    return this.#trail
  }

  /** Returns a hash of all lines so far. */
  digest(): string {
    return this.#hash.copy().digest('hex').slice(0, 16)
  }

  /** Runs timers until the task has ended. Rejects if the task does. */
  async run<T>(
    task: Promise<T>,
    { msMax, stepsMax }: { readonly msMax: number; readonly stepsMax: number },
  ): Promise<T> {
    let isOver = false
    const over = (): void => void (isOver = true)
    task.then(over, over)
    for (;;) {
      await (this.#steps % STEPS_PER_TURN === 0 ? realTurn() : settled())
      if (isOver) return task
      const next = this.#take()
      if (next === undefined)
        throw new Error(`at ${this.#nowMs} ms: no timers are left, but the task still waits`)
      if (next.atMs > msMax || ++this.#steps > stepsMax) {
        throw new Error(`at ${this.#nowMs} ms: not finished after ${this.#steps} steps`)
      }
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.run?.()
    }
  }

  #add(ms: number, run: () => void): Timer {
    const due: DueTimer = { atMs: this.#nowMs + ms, order: this.#orders++, run }
    // A binary heap with the earliest timer first.
    const heap = this.#due
    let at = heap.length
    heap.push(due)
    while (at > 0) {
      const up = (at - 1) >> 1
      const parent = heap[up]
      if (parent === undefined || !isBefore(due, parent)) break
      heap[at] = parent
      at = up
    }
    heap[at] = due
    return { close: () => void (due.run = undefined) }
  }

  #take(): DueTimer | undefined {
    for (;;) {
      const first = this.#pop()
      if (first === undefined || first.run !== undefined) return first
    }
  }

  #pop(): DueTimer | undefined {
    const heap = this.#due
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const [a, b] = [heap[left], heap[left + 1]]
      if (a === undefined) break
      const isRight = b !== undefined && isBefore(b, a)
      const child = isRight ? b : a
      if (!isBefore(child, last)) break
      heap[at] = child
      at = isRight ? left + 1 : left
    }
    heap[at] = last
    return first
  }
}

const isBefore = (a: DueTimer, b: DueTimer): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
