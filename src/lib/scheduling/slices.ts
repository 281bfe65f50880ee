/**
 * Cuts long work into slices, so that it never holds the event loop for more than a few
 * milliseconds. However many long lists there are at once, a turn of the loop has a few slices: the
 * others wait for the next, in the order they came.
 */
import { Deque } from '../collections/deque.ts'
import { runningWork } from './running-work.ts'
import { systemTime, type Time } from '../time/timers.ts'

const SLICE_MS = 1
/**
 * Slices of clients in one turn: with one that is shared, and those of the background, what a small
 * request waits for at most, besides what others begin.
 */
const SLICES_PER_TURN = 2
/**
 * Work that no client waits for has one slice in a turn for each of so many ms since the last ones
 * were given, but at least one, and no more than others: controllers that fall behind would have to
 * list everything again.
 */
const BACKGROUND_EVERY_MS = 4

/** Longer than other slices: what a step does outside of its loops is repeated in each of them. */
const EXPENSIVE_SLICE_MS = 6

/**
 * Work that can be paused at each yield. A step between two yields that takes longer than a slice
 * blocks the event loop.
 */
export type Steps<T> = Generator<undefined, T, void>

/**
 * Runs the work, and yields to the event loop whenever a slice is over. The work of an expensive
 * request begins in a turn of its own.
 */
export async function inSlices<T>(steps: Steps<T>, slices = new Slices()): Promise<T> {
  if (slices.isExpensive) await slices.turn()
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (slices.isOver) await slices.turn()
  }
}

/** Runs work that is known to be short, without looks at the clock. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

export type SlicesTime = Pick<Time, 'monotonicMs' | 'defer'>

export type SlicesOptions = {
  /** No client waits for this work: it leaves most of a turn to others. */
  readonly isBackground?: boolean
  /**
   * All clients of a resource wait for this work: it has a slice in each turn, and does not stand
   * behind the lists of some.
   */
  readonly isShared?: boolean
  /**
   * The work is on a large object: of all such works, one has a slice in a turn. One that
   * `isShared` comes before the others.
   */
  readonly isExpensive?: boolean
}

export class Slices {
  readonly #time: SlicesTime
  readonly #options: SlicesOptions
  #since: number

  constructor(time: SlicesTime = systemTime, options: SlicesOptions = {}) {
    this.#time = time
    this.#options = options
    this.#since = time.monotonicMs()
  }

  get isExpensive(): boolean {
    return this.#options.isExpensive === true
  }

  /** Cheap, to be called often. True when the slice is over: then await `turn()`. */
  get isOver(): boolean {
    return (
      this.#time.monotonicMs() - this.#since > (this.isExpensive ? EXPENSIVE_SLICE_MS : SLICE_MS)
    )
  }

  /** Begins a new slice: the time since the last one was not spent on this work. */
  begin(): void {
    this.#since = this.#time.monotonicMs()
  }

  async turn(): Promise<void> {
    const work = runningWork.current
    await new Promise<void>((resolve) => sliceTurnsOf(this.#time).add(resolve, this.#options))
    if (work !== undefined) runningWork.note(work)
    this.begin()
  }
}

/** What waits for a slice on one event loop. */
class SliceTurns {
  readonly #time: SlicesTime
  readonly #shared = new Deque<() => void>()
  readonly #waiting = new Deque<() => void>()
  readonly #background = new Deque<() => void>()
  readonly #expensive = new Deque<() => void>()
  readonly #sharedExpensive = new Deque<() => void>()
  readonly #queues = [
    this.#shared,
    this.#waiting,
    this.#background,
    this.#expensive,
    this.#sharedExpensive,
  ]
  #isDue = false
  #turnedMs: number

  constructor(time: SlicesTime) {
    this.#time = time
    this.#turnedMs = time.monotonicMs()
  }

  add(resume: () => void, options: SlicesOptions): void {
    this.#queueOf(options).push(resume)
    if (this.#isDue) return
    this.#isDue = true
    this.#time.defer(this.#next, 'long')
  }

  #queueOf({
    isShared = false,
    isBackground = false,
    isExpensive = false,
  }: SlicesOptions): Deque<() => void> {
    if (isExpensive) return isShared ? this.#sharedExpensive : this.#expensive
    return isShared ? this.#shared : isBackground ? this.#background : this.#waiting
  }

  readonly #next = (): void => {
    const expensive = this.#sharedExpensive.shift() ?? this.#expensive.shift()
    expensive?.()
    this.#shared.shift()?.()
    for (let count = 0; count < SLICES_PER_TURN; count++)
      (this.#waiting.shift() ?? this.#shared.shift())?.()
    const sinceMs = this.#time.monotonicMs() - this.#turnedMs
    const background = Math.min(
      SLICES_PER_TURN,
      Math.max(1, Math.floor(sinceMs / BACKGROUND_EVERY_MS)),
    )
    for (let count = 0; count < background; count++) this.#background.shift()?.()
    this.#turnedMs = this.#time.monotonicMs()
    this.#isDue = this.#queues.some(({ length }) => length > 0)
    if (this.#isDue) this.#time.defer(this.#next, 'long')
  }
}

/** One for each event loop: that of the system, and those of simulations. */
const sliceTurns = new WeakMap<Time['defer'], SliceTurns>()

function sliceTurnsOf(time: SlicesTime): SliceTurns {
  const known = sliceTurns.get(time.defer)
  if (known !== undefined) return known
  const made = new SliceTurns(time)
  sliceTurns.set(time.defer, made)
  return made
}
