/**
 * The end of a turn of the event loop, in stages. Node calls what setImmediate was given in the
 * order in which it was given: what goes on from turn to turn, such as the slices of long lists,
 * would always stand before the requests and answers that this turn has brought, and what one
 * callback leaves to the next would wait for another turn.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Deque } from '../collections/deque.ts'

/**
 * In this order. `begin`: what waits for its turn begins. `ask`: questions that several callers
 * share are asked. `answer`: a store in this process answers them. `write`: all that was made is
 * written. `long`: long work goes on, while others read what was written.
 */
const stages = ['begin', 'ask', 'answer', 'write', 'long'] as const

const LAST = stages.length - 1

export type Stage = (typeof stages)[number]

export type Defer = (call: () => void, stage?: Stage) => void

export class TurnEnd {
  readonly #immediately: (call: () => void) => void
  readonly #calls = stages.map(() => new Deque<() => void>())
  /** A callback for each stage: promises that one has resolved go on before the next. */
  readonly #runs = stages.map((_, at) => (): void => this.#run(at))
  /** The stage that runs, or ran last; those after it are still to come in this turn. */
  #at = LAST
  #isDue = false
  #onEnd: (() => void) | undefined

  constructor(immediately: (call: () => void) => void) {
    this.#immediately = immediately
  }

  /** Calls at the end of this turn, or of the next if the stage is over. */
  readonly defer: Defer = (call, stage = 'begin') => {
    const at = stages.indexOf(stage)
    this.#calls[at]?.push(call)
    if (at <= this.#at) this.#plan()
  }

  /**
   * Calls at the end of each turn in which something was done. Undefined: nothing is called any
   * more.
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
      // What is added meanwhile is for the next turn.
      for (; left > 0; left--) calls.shift()?.()
    } finally {
      if (left > 0) this.#plan()
      if (at === LAST) this.#onEnd?.()
    }
  }
}

/**
 * The first who calls makes the immediates for all: they must not run as a part of his request, or
 * be traced as such.
 */
const outside = AsyncLocalStorage.snapshot()

/** Of the loop of this thread. */
export const turnEnd = new TurnEnd((call) => void outside(setImmediate, call))
