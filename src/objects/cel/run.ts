/**
 * One evaluation of an expression: its variables, its cost so far, and the state that remains if it
 * is interrupted. A running evaluation blocks the event loop. Therefore a long evaluation is
 * interrupted between two iterations of a loop or after a long call, by throwing `PausedError`.
 *
 * To resume, the expression is evaluated again from its start. Loops continue at the iteration at
 * which they were interrupted, and results that took a long time are cached. So only short parts
 * are evaluated again, and their cost is charged only once. This is possible because expressions
 * have no side effects.
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

/** A loop checks the clock when its cost has grown by this number, which takes about 50 µs. */
const LOOK_COST = 1_000
/**
 * The result of a loop is cached if its cost exceeds this number. Otherwise it is computed again,
 * because a long expression can have thousands of such loops.
 */
const KEPT_COST = 20
/**
 * The result of a call is cached if the call takes longer than this. Otherwise it is computed
 * again.
 */
const KEPT_NANOS = 2_000
/**
 * Maximum duration of a single call, which cannot be interrupted. kube-apiserver has no such limit.
 */
const CALL_NANOS_MAX = 30_000_000
/** Maximum total duration of the work in one evaluation that its cost does not cover. */
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
   * Duration of the work in the current long call. Outside of long calls it is NaN, which never
   * exceeds a limit.
   */
  #callNanos = Number.NaN
  /**
   * Duration of the work in the current call that its cost covers. It is not limited, but it
   * determines whether the result of the call is cached.
   */
  #callLasts = 0
  #call = 0
  frame: Frame = this.#root
  cost = 0
  /** Duration of the work in this evaluation that its cost does not cover. */
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
   * The cost so far. After an interruption, it stays the same until the evaluation is back at the
   * point at which it was interrupted.
   */
  get paid(): number {
    return this.#pausedAt === undefined ? this.cost : this.#costAtPause
  }

  /** Charges work of this estimated duration. Functions call this before they start the work. */
  work(nanos: number): void {
    this.nanos += nanos
    this.#callNanos += nanos
    if (this.#callNanos > CALL_NANOS_MAX || this.nanos > RUN_NANOS_MAX) throw new CostExceeded()
  }

  last(nanos: number): void {
    this.#callLasts += nanos
  }

  /**
   * Compiles a regular expression that is not constant. The result is cached, because a loop often
   * uses the same regular expression in each iteration.
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
    // Costs are not charged again until the evaluation is back at the point at which it was
    // interrupted.
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

  /** Ends a loop. If the loop was long, its value is cached. */
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
  /** How many loops and long calls its frame had entered when this entry was stored. */
  readonly entered: number
  /**
   * Whether the evaluation has waited for this result but has not charged the cost of the call yet.
   */
  readonly isUnpaid: boolean
}

/**
 * Numbers loops and long calls in the order in which they are entered. The numbers identify them,
 * because they are the same when the expression is evaluated again.
 */
class Frame {
  entered = 0
  known: Map<number, MemoEntry | ComprehensionFrame> | undefined

  memoize(place: number, what: MemoEntry | ComprehensionFrame): void {
    this.known ??= new Map()
    this.known.set(place, what)
  }
}

/** The state of a loop that has not ended, including the frame of its current iteration. */
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

/** Tells an evaluation when to interrupt itself. */
export type Slice = {
  readonly isOver: () => boolean
  /**
   * Called when the evaluation is back at the point at which it was interrupted. Restarts the time
   * slice. Otherwise the way back could use up the whole slice, and the evaluation would never make
   * progress.
   */
  readonly begin?: () => void
}

const endless: Slice = { isOver: () => false }

export type LoopStart = { readonly collection: ListValue | MapValue; readonly initial: Value }

/** Ends an evaluation that costs too much. A CelError would not end it: `true || error` is true. */
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
