/**
 * Runs calls in stages at the end of a tick of the event loop. Node runs setImmediate callbacks in
 * FIFO order. Work that schedules itself again, such as the slices of long lists, would therefore
 * run before the requests and responses of the current tick. If one callback passed work on to
 * another, this work would have to wait for the next tick.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Deque } from '../collections/deque.ts'

/**
 * The stages in their order:
 *
 * - `begin`: queued work begins.
 * - `ask`: queries that several callers share are sent.
 * - `answer`: a store in this process answers these queries.
 * - `write`: responses and other output are written.
 * - `long`: long work continues, while clients read what was written.
 */
const stages = ['begin', 'ask', 'answer', 'write', 'long'] as const

const LAST = stages.length - 1

export type Stage = (typeof stages)[number]

export type Defer = (call: () => void, stage?: Stage) => void

export class TurnEnd {
  readonly #immediately: (call: () => void) => void
  readonly #calls = stages.map(() => new Deque<() => void>())
  /**
   * A callback per stage. Each stage is a separate callback of Node, because promise reactions run
   * between callbacks.
   */
  readonly #runs = stages.map((_, at) => (): void => this.#run(at))
  /** The current stage, or the last one that ran. Later stages will still run in this tick. */
  #at = LAST
  #isDue = false
  #onEnd: (() => void) | undefined

  constructor(immediately: (call: () => void) => void) {
    this.#immediately = immediately
  }

  /**
   * Calls a function in this stage at the end of the current tick, or of the next tick if the stage
   * has already run.
   */
  readonly defer: Defer = (call, stage = 'begin') => {
    const at = stages.indexOf(stage)
    this.#calls[at]?.push(call)
    if (at <= this.#at) this.#plan()
  }

  /**
   * Sets a function that is called at the end of each tick in which any work was done. Undefined
   * removes the function.
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
      // Calls that are added from now on belong to the next tick.
      for (; left > 0; left--) calls.shift()?.()
    } finally {
      if (left > 0) this.#plan()
      if (at === LAST) this.#onEnd?.()
    }
  }
}

/**
 * Runs code outside of any asynchronous context. An immediate runs the calls of all callers, so it
 * must not belong to the request that happened to schedule it.
 */
const outside = AsyncLocalStorage.snapshot()

/** The stages of the event loop of this thread. */
export const turnEnd = new TurnEnd((call) => void outside(setImmediate, call))
