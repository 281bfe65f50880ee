/**
 * Divides long work into slices of time, so that it never blocks the event loop for more than a few
 * milliseconds. However many long lists are requested, one tick of the event loop runs only a few
 * slices. The others wait for a later tick, in the order of arrival.
 */
import { Deque } from '../collections/deque.ts'
import { runningWork } from './running-work.ts'
import { systemTime, type Time } from '../time/timers.ts'

const SLICE_MS = 1
/**
 * Number of slices per tick for work for which a single client waits. A small request waits at most
 * for these slices, one slice of shared work (`isShared`), and the slices of background work.
 */
const SLICES_PER_TURN = 2
/**
 * Background work, for which no client waits, gets one slice per tick. After a long tick, it gets
 * one slice for every 4 ms of the tick, but at most SLICES_PER_TURN. With fewer slices, controllers
 * would lag behind and have to list all objects again.
 */
const BACKGROUND_EVERY_MS = 4

/**
 * Length of a slice of expensive work. It is longer than other slices, because each slice first
 * repeats all code outside of loops (see parts.ts).
 */
const EXPENSIVE_SLICE_MS = 6

/**
 * Work that can pause at each yield. A step between two yields that takes longer than a slice
 * blocks the event loop.
 */
export type Steps<T> = Generator<undefined, T, void>

/**
 * Runs work, and yields to the event loop whenever a slice is over. Expensive work starts in a new
 * tick. If `signal` is aborted, the promise is rejected with its reason.
 */
export async function inSlices<T>(
  steps: Steps<T>,
  slices = new Slices(),
  signal?: AbortSignal,
): Promise<T> {
  if (slices.isExpensive) await slices.turn()
  signal?.throwIfAborted()
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (!slices.isOver) continue
    await slices.turn()
    signal?.throwIfAborted()
  }
}

/** Runs work that is known to be short, without checks of the clock. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

export type SlicesTime = Pick<Time, 'monotonicMs' | 'defer'>

export type SlicesOptions = {
  /** Whether no client waits for this work. Such work gets only a small part of each tick. */
  readonly isBackground?: boolean
  /**
   * Whether all clients of a resource wait for this work. It gets one slice in each tick, and does
   * not wait for the lists of single clients.
   */
  readonly isShared?: boolean
  /**
   * Whether the work processes a large object. All work of this kind shares one slice per tick.
   * Work with `isShared` comes first.
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

  /**
   * Whether the slice is over. If so, the caller should await `turn()`. This check is cheap enough
   * for frequent calls.
   */
  get isOver(): boolean {
    return (
      this.#time.monotonicMs() - this.#since > (this.isExpensive ? EXPENSIVE_SLICE_MS : SLICE_MS)
    )
  }

  /** Begins a new slice. Call this if other work has run since the last slice ended. */
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

/** The queues of the work that waits for a slice on one event loop. */
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

/** The queues of each event loop: the system's event loop, and those of simulations. */
const sliceTurns = new WeakMap<Time['defer'], SliceTurns>()

function sliceTurnsOf(time: SlicesTime): SliceTurns {
  const known = sliceTurns.get(time.defer)
  if (known !== undefined) return known
  const made = new SliceTurns(time)
  sliceTurns.set(time.defer, made)
  return made
}
