/**
 * One evaluation: its variables, its cost so far, and how it pauses. An evaluation blocks the event
 * loop, so a long one stops between two iterations of a loop, or after a long call, by throwing
 * `PausedError`. To resume, the expression is evaluated again from its start: loops in progress
 * continue where they were and results that took long are remembered, so that only short parts are
 * evaluated twice; they are not charged twice. Expressions have no side effects, which makes this
 * possible.
 */
import type { Meter } from './functions.ts'
import type { Question } from './question.ts'
import { compilePattern, type Pattern } from './regex.ts'
import {
  type CelError,
  isMap,
  type MapKey,
  type ListValue,
  type MapValue,
  type Result,
  type Value,
} from './values.ts'

export type Activation = { readonly [variable: string]: Result | undefined }

/** In units of cost, about 50 µs: how often a loop checks the clock. */
const LOOK_COST = 1_000
/**
 * Results below these limits are not remembered but computed again: in units of cost for loops, in
 * nanoseconds for calls. A long expression may have thousands of them.
 */
const KEPT_COST = 20
const KEPT_NANOS = 2_000
/**
 * Limits of one call, which cannot pause, and of one evaluation. Upstream has none: its costs do
 * not cover this work.
 */
const CALL_NANOS_MAX = 30_000_000
const RUN_NANOS_MAX = 1_000_000_000
/** Limits of the compiled patterns of one evaluation: their number, and their characters. */
const PATTERNS_MAX = 500
const PATTERN_CHARACTERS_MAX = 20_000

export class Run implements Meter {
  readonly activation: Activation
  readonly locals: Result[] = []
  readonly #costMax: number
  readonly #root = new Frame()
  #patterns: Map<string, Pattern | CelError> | undefined
  #patternCharacters = 0
  #slice: Slice = endless
  #lookAt = LOOK_COST
  #pausedAt: ComprehensionFrame | MemoEntry | undefined
  #costAtPause = 0
  #nanosAtPause = 0
  /** NaN outside of long calls. */
  #callNanos = Number.NaN
  /** What the cost of the call pays for: decides whether its result is kept, and limits nothing. */
  #callLasts = 0
  #call = 0
  frame: Frame = this.#root
  cost = 0
  /** The work that costs do not cover. */
  nanos = 0

  constructor(activation: Activation, costMax: number) {
    this.activation = activation
    this.#costMax = costMax
  }

  spend(cost: number): void {
    this.cost += cost
    if (this.cost > this.#costMax) throw new CostExceeded()
  }

  /** The cost so far, also while the evaluation is returning to the place of a pause. */
  get paid(): number {
    return this.#pausedAt === undefined ? this.cost : this.#costAtPause
  }

  /** Called by functions before work that takes about so long. */
  work(nanos: number): void {
    this.nanos += nanos
    this.#callNanos += nanos
    if (this.#callNanos > CALL_NANOS_MAX || this.nanos > RUN_NANOS_MAX) throw new CostExceeded()
  }

  last(nanos: number): void {
    this.#callLasts += nanos
  }

  /** Compiles a pattern that is not constant; loops use the same ones again and again. */
  pattern(text: string): Pattern | CelError {
    const patterns = (this.#patterns ??= new Map())
    const known = patterns.get(text)
    if (known !== undefined) return known
    this.work(PATTERN_NANOS + text.length * PATTERN_CHARACTER_NANOS)
    const made = compilePattern(text)
    this.#patternCharacters += text.length
    if (patterns.size >= PATTERNS_MAX || this.#patternCharacters > PATTERN_CHARACTERS_MAX) {
      patterns.clear()
      this.#patternCharacters = text.length
    }
    patterns.set(text, made)
    return made
  }

  /** Runs to the end, or throws `PausedError` some time after the slice is over. */
  goOn(step: Step, slice: Slice): Result {
    this.#slice = slice
    this.frame = this.#root
    this.#root.entered = 0
    this.#callNanos = Number.NaN
    // Until the place of the pause is reached, no cost is charged.
    if (this.#pausedAt !== undefined) this.cost = this.nanos = Number.NEGATIVE_INFINITY
    return step(this)
  }

  /** Starts a loop, or resumes it where it paused. */
  startLoop(loop: ComprehensionFrame): void {
    loop.outer.entered = loop.outerEntered
    this.frame = loop
    this.#reached(loop)
  }

  startTurn(loop: ComprehensionFrame): void {
    loop.entered = 0
    if (this.cost <= this.#lookAt) return
    this.#lookAt = this.cost + LOOK_COST
    if (this.#slice.isOver()) this.#pause(loop)
  }

  /** Returns a remembered result. */
  recall(frame: Frame, known: MemoEntry): Result {
    frame.entered = known.entered
    this.#reached(known)
    return known.value
  }

  #reached(place: ComprehensionFrame | MemoEntry): void {
    if (this.#pausedAt !== place) return
    this.#pausedAt = undefined
    this.cost = this.#costAtPause
    this.nanos = this.#nanosAtPause
    this.#slice.begin?.()
  }

  /** Ends a loop. Its value is remembered if the loop was long. */
  endLoop(loop: ComprehensionFrame, value: Result): Result {
    const { outer, place } = loop
    this.frame = outer
    if (this.cost - loop.costBefore > KEPT_COST)
      outer.memoize(place, { value, entered: outer.entered, isUnpaid: false })
    return value
  }

  startCall(): number {
    this.#callNanos = this.#callLasts = 0
    return (this.#call = this.frame.entered++)
  }

  endCall(place: number, value: Result): Result {
    const isShort = this.#callNanos + this.#callLasts < KEPT_NANOS
    this.#callNanos = Number.NaN
    if (isShort) return value
    const known = { value, entered: this.frame.entered, isUnpaid: false }
    this.frame.memoize(place, known)
    if (this.#pausedAt === undefined && this.#slice.isOver()) this.#pause(known)
    return value
  }

  ask(question: Question): never {
    const { frame } = this
    const place = this.#call
    const report = (value: Result): void => {
      const known = { value, entered: place + 1, isUnpaid: true }
      frame.memoize(place, known)
      this.#pausedAt = known
    }
    this.#remember()
    throw new PausedError({ question, resume: report })
  }

  #pause(at: ComprehensionFrame | MemoEntry): never {
    this.#pausedAt = at
    this.#remember()
    throw new PausedError()
  }

  #remember(): void {
    this.#costAtPause = this.cost
    this.#nanosAtPause = this.nanos
    for (let { frame } = this; frame instanceof ComprehensionFrame; frame = frame.outer)
      frame.outer.memoize(frame.place, frame)
  }
}

const PATTERN_NANOS = 50_000
const PATTERN_CHARACTER_NANOS = 30_000

type MemoEntry = {
  readonly value: Result
  /** The number of places that had been entered when it was left. */
  readonly entered: number
  /** An answer: the call was not charged yet. */
  readonly isUnpaid: boolean
}

/**
 * Loops and long calls are numbered as they are entered: they have the same numbers when an
 * expression is evaluated again.
 */
class Frame {
  entered = 0
  known: Map<number, MemoEntry | ComprehensionFrame> | undefined

  memoize(place: number, what: MemoEntry | ComprehensionFrame): void {
    this.known ??= new Map()
    this.known.set(place, what)
  }
}

/** A comprehension in progress, and the frame of its current iteration. */
export class ComprehensionFrame extends Frame {
  readonly outer: Frame
  readonly place: number
  readonly outerEntered: number
  readonly costBefore: number
  readonly collection: ListValue | MapValue
  /** The keys, if it is a map. */
  readonly keys: readonly MapKey[] | undefined
  readonly size: number
  at = 0
  accumulated: Value | CelError

  constructor(run: Run, place: number, { collection, initial }: LoopStart) {
    super()
    this.outer = run.frame
    this.place = place
    this.outerEntered = run.frame.entered
    this.costBefore = run.cost
    this.collection = collection
    this.keys = isMap(collection) ? [...collection.keys()] : undefined
    this.size = collection.size
    this.accumulated = initial
  }
}

/** How long an evaluation may run. */
export type Slice = {
  readonly isOver: () => boolean
  /**
   * Called when the place of the last pause is reached again: however long that took, the
   * evaluation makes progress after it.
   */
  readonly begin?: () => void
}

const endless: Slice = { isOver: () => false }

export type LoopStart = { readonly collection: ListValue | MapValue; readonly initial: Value }

/** Ends an evaluation; unlike a CelError, `||` does not absorb it. */
export class CostExceeded extends Error {}

/** Ends a slice. A question must be answered before the evaluation resumes. */
export class PausedError extends Error {
  readonly asked: Suspension | undefined

  constructor(asked?: Suspension) {
    super('paused')
    this.asked = asked
  }
}

export type Suspension = { readonly question: Question; readonly resume: (answer: Result) => void }

/** A compiled subexpression. */
export type Step = (run: Run) => Result
