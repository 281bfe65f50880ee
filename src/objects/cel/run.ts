/**
 * One evaluation: its variables, its cost so far, and the state that an interruption preserves. An
 * evaluation blocks the event loop. Therefore a long evaluation is interrupted between two
 * iterations of a loop or after a long call, by throwing `PausedError`.
 *
 * To resume, the expression is evaluated again from its start. Unfinished loops continue at the
 * same iteration, and results that took a long time are cached. Only short parts are evaluated
 * twice, and their cost is charged once. This is possible because expressions have no side effects.
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

/** Cost after which a loop checks the clock again. It corresponds to about 50 µs. */
const LOOK_COST = 1_000
/**
 * Maximum cost of a loop whose result is computed again instead of cached. A long expression can
 * have thousands of such loops.
 */
const KEPT_COST = 20
/** Maximum duration of a call whose result is computed again instead of cached. */
const KEPT_NANOS = 2_000
/**
 * Maximum duration of a single call, because calls cannot be interrupted. kube-apiserver has no
 * such limit: its costs do not cover this work.
 */
const CALL_NANOS_MAX = 30_000_000
/** Maximum duration of all work in one evaluation that is not covered by costs. */
const RUN_NANOS_MAX = 1_000_000_000
/** Maximum number of compiled patterns that one evaluation caches. */
const PATTERNS_MAX = 500
/** Maximum total length of the cached patterns. */
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
  /**
   * Duration of the current long call's work. NaN outside of long calls, which disables the limit.
   */
  #callNanos = Number.NaN
  /**
   * Duration of the work of the current call that the cost of the call accounts for. This duration
   * is not limited, but determines whether the result is cached.
   */
  #callLasts = 0
  #call = 0
  frame: Frame = this.#root
  cost = 0
  /** Duration of the work that costs do not cover. */
  nanos = 0

  constructor(activation: Activation, costMax: number) {
    this.activation = activation
    this.#costMax = costMax
  }

  spend(cost: number): void {
    this.cost += cost
    if (this.cost > this.#costMax) throw new CostExceeded()
  }

  /**
   * The cost so far. It is correct even while the evaluation returns to the point at which it was
   * interrupted.
   */
  get paid(): number {
    return this.#pausedAt === undefined ? this.cost : this.#costAtPause
  }

  /** Charges work of about this duration. Functions call it before they start the work. */
  work(nanos: number): void {
    this.nanos += nanos
    this.#callNanos += nanos
    if (this.#callNanos > CALL_NANOS_MAX || this.nanos > RUN_NANOS_MAX) throw new CostExceeded()
  }

  last(nanos: number): void {
    this.#callLasts += nanos
  }

  /**
   * Compiles a pattern that is not constant. The result is cached, because loops often use the same
   * patterns.
   */
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

  /** Runs the evaluation to its end, or throws `PausedError` soon after the time slice is over. */
  goOn(step: Step, slice: Slice): Result {
    this.#slice = slice
    this.frame = this.#root
    this.#root.entered = 0
    this.#callNanos = Number.NaN
    // Do not charge costs until the evaluation is back at the point at which it was interrupted.
    if (this.#pausedAt !== undefined) this.cost = this.nanos = Number.NEGATIVE_INFINITY
    return step(this)
  }

  /** Starts a loop, or resumes an interrupted loop. */
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

  /** Returns a cached result. */
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

  /** Ends a loop. Its value is cached if the loop was long. */
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
  /**
   * Number of loops and long calls that the enclosing iteration had entered when this loop or call
   * ended.
   */
  readonly entered: number
  /**
   * Whether this is a result for which the evaluation waited, and the cost of the call has not been
   * charged yet.
   */
  readonly isUnpaid: boolean
}

/**
 * Numbers loops and long calls in the order in which they are entered. They get the same numbers
 * when the expression is evaluated again.
 */
class Frame {
  entered = 0
  known: Map<number, MemoEntry | ComprehensionFrame> | undefined

  memoize(place: number, what: MemoEntry | ComprehensionFrame): void {
    this.known ??= new Map()
    this.known.set(place, what)
  }
}

/** An unfinished comprehension, and the frame of its current iteration. */
export class ComprehensionFrame extends Frame {
  readonly outer: Frame
  readonly place: number
  readonly outerEntered: number
  readonly costBefore: number
  readonly collection: ListValue | MapValue
  /** The keys, if the collection is a map. */
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

/** Determines how long an evaluation can run before it should be interrupted. */
export type Slice = {
  readonly isOver: () => boolean
  /**
   * Called when the evaluation is back at the point at which it was interrupted. This restarts the
   * time slice, so that the evaluation makes progress no matter how long it took to return.
   */
  readonly begin?: () => void
}

const endless: Slice = { isOver: () => false }

export type LoopStart = { readonly collection: ListValue | MapValue; readonly initial: Value }

/** Aborts an evaluation. Unlike a CelError, it is not absorbed by `||`. */
export class CostExceeded extends Error {}

/**
 * Thrown to interrupt an evaluation. If `asked` is set, the result that it describes must be
 * available before the evaluation resumes.
 */
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
