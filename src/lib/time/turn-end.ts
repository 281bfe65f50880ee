/**
 * The end of a tick of the event loop, in stages. Node runs setImmediate callbacks in FIFO order.
 * So work that schedules itself again, such as the slices of long lists, would always run before
 * the requests and responses of this tick. Work that one callback leaves to the next would wait for
 * another tick.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Deque } from '../collections/deque.ts'

/**
 * The stages in their order:
 *
 * - `begin`: queued work begins.
 * - `ask`: queries that several callers share are sent.
 * - `answer`: a store in this process answers them.
 * - `write`: everything that was produced is written.
 * - `long`: long work continues, while the receivers read what was written.
 */
const stages = ['begin', 'ask', 'answer', 'write', 'long'] as const

const LAST = stages.length - 1

export type Stage = (typeof stages)[number]

export type Defer = (call: () => void, stage?: Stage) => void

export class TurnEnd {
  readonly #immediately: (call: () => void) => void
  readonly #calls = stages.map(() => new Deque<() => void>())
  /**
   * A callback for each stage, so that promise reactions of one stage run before the next stage.
   */
  readonly #runs = stages.map((_, at) => (): void => this.#run(at))
  /** The stage that runs or ran last. The stages after it still follow in this tick. */
  #at = LAST
  #isDue = false
  #onEnd: (() => void) | undefined

  constructor(immediately: (call: () => void) => void) {
    this.#immediately = immediately
  }

  /** Calls a function at the end of this tick, or of the next one if the stage is over. */
  readonly defer: Defer = (call, stage = 'begin') => {
    const at = stages.indexOf(stage)
    this.#calls[at]?.push(call)
    if (at <= this.#at) this.#plan()
  }

  /**
   * Sets a function that is called at the end of each tick in which something was done. Undefined
   * removes it.
   */
  onEnd(call: (() => void) | undefined): void {
    this.#onEnd = call
  }

  #plan(): void {
    if (this.#isDue) return
    this.#isDue = true
    for (const run of this.#runs) this.#immediately(run)
  }

  #run(at: number): void {
    if (at === 0) this.#isDue = false
    this.#at = at
    const calls = this.#calls[at]
    if (calls === undefined) return
    let left = calls.length
    try {
      // Calls that are added meanwhile run in the next tick.
      for (; left > 0; left--) calls.shift()?.()
    } finally {
      if (left > 0) this.#plan()
      if (at === LAST) this.#onEnd?.()
    }
  }
}

/**
 * Runs code outside of any async context. The first caller schedules the immediates for all, so
 * they must not run, or be traced, as a part of its request.
 */
const outside = AsyncLocalStorage.snapshot()

/** The stages of the event loop of this thread. */
export const turnEnd = new TurnEnd((call) => void outside(setImmediate, call))
