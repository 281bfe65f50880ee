import { systemTimers, type Timers } from './timers.ts'

/** Serializes work by name, where concurrent attempts would only conflict with each other. A turn is the lock. */
type Turn = Disposable & {
  /** Whether others held it first: the state may have changed meanwhile. */
  readonly hasWaited: boolean
}

export class Lines {
  readonly #timers: Timers
  /** Waiters by name; as long as there is an entry, somebody holds the turn. */
  readonly #waiting = new Map<string, (() => void)[]>()

  constructor(timers: Timers = systemTimers) {
    this.#timers = timers
  }

  /** Waits for a turn, which the caller must dispose of; after `waitMsMax` a caller proceeds without one. */
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
