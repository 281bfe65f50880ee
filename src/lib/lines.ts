import { systemTimers, type Timers } from './timers.ts'

/** Lets those who want the same thing go one after the other, where all at once would only be in each other's way. */
type Turn = Disposable & {
  /** Whether others were there first: things may have changed meanwhile. */
  readonly hasWaited: boolean
}

export class Lines {
  readonly #timers: Timers
  /** Those who wait, by what they wait for; somebody has a turn as long as there is an entry. */
  readonly #waiting = new Map<string, (() => void)[]>()

  constructor(timers: Timers = systemTimers) {
    this.#timers = timers
  }

  /** Waits for a turn, which the caller must end; whoever has waited for `waitMsMax` goes on without one. */
  async enter(name: string, waitMsMax: number): Promise<Turn> {
    const waiting = this.#waiting.get(name)
    if (waiting === undefined) {
      this.#waiting.set(name, [])
      return this.#turn(name, false)
    }
    const hasTurn = await new Promise<boolean>((resolve) => {
      const onTurn = (): void => {
        timer.close()
        resolve(true)
      }
      const timer = this.#timers.after(waitMsMax, () => {
        waiting.splice(waiting.indexOf(onTurn), 1)
        resolve(false)
      })
      waiting.push(onTurn)
    })
    return hasTurn ? this.#turn(name, true) : { hasWaited: true, [Symbol.dispose]: () => undefined }
  }

  #turn(name: string, hasWaited: boolean): Turn {
    return {
      hasWaited,
      [Symbol.dispose]: () => {
        const next = this.#waiting.get(name)?.shift()
        if (next === undefined) this.#waiting.delete(name)
        else next()
      },
    }
  }
}
