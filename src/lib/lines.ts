import { systemTimers, type Timer, type Timers } from './timers.ts'

/** The lock. The caller disposes of it to let the next caller in. */
type Turn = Disposable & {
  /** Whether others held it first: the state may have changed meanwhile. */
  readonly hasWaited: boolean
}

type Line = {
  holder: Turn | undefined
  readonly waiting: ((turn: Turn) => void)[]
  /** Runs while a caller waits. */
  timer: Timer | undefined
}

/** Serializes work by name, where concurrent attempts would only conflict with each other. */
export class Lines {
  readonly #holdMsMax: number
  readonly #timers: Timers
  /** Names whose turn a caller holds. */
  readonly #lines = new Map<string, Line>()

  /** A caller that holds its turn for longer than `holdMsMax` loses it to the next caller, but can go on. */
  constructor(holdMsMax: number, timers: Timers = systemTimers) {
    this.#holdMsMax = holdMsMax
    this.#timers = timers
  }

  /** Waits for a turn. */
  async enter(name: string): Promise<Turn> {
    const line = this.#lines.get(name)
    if (line !== undefined) {
      return new Promise((resolve) => {
        line.waiting.push(resolve)
        this.#limitHold(name, line)
      })
    }
    const begun: Line = { holder: undefined, waiting: [], timer: undefined }
    this.#lines.set(name, begun)
    return this.#take(name, begun, false)
  }

  #take(name: string, line: Line, hasWaited: boolean): Turn {
    const turn: Turn = {
      hasWaited,
      [Symbol.dispose]: () => {
        if (line.holder === turn) this.#pass(name, line)
      },
    }
    line.holder = turn
    return turn
  }

  #pass(name: string, line: Line): void {
    line.timer?.close()
    line.timer = undefined
    line.holder = undefined
    const next = line.waiting.shift()
    if (next === undefined) {
      this.#lines.delete(name)
      return
    }
    next(this.#take(name, line, true))
    if (line.waiting.length > 0) this.#limitHold(name, line)
  }

  #limitHold(name: string, line: Line): void {
    line.timer ??= this.#timers.after(this.#holdMsMax, () => this.#pass(name, line))
  }
}
