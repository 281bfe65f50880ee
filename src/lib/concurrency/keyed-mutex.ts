import { systemTimers, type Timer, type Timers } from '../time/timers.ts'

/** A held lock. Disposing of it passes the lock to the next caller. */
type Lock = Disposable & {
  /**
   * Whether the caller had to wait for the lock. If so, the state may have changed in the meantime.
   */
  readonly hasWaited: boolean
}

type LockQueue = {
  holder: Lock | undefined
  readonly waiting: ((lock: Lock) => void)[]
  /**
   * The timer that takes the lock from its holder after `holdMsMax`. Set only while another caller
   * waits.
   */
  timer: Timer | undefined
}

/** Serializes operations with the same key that would conflict if they ran concurrently. */
export class KeyedMutex {
  readonly #holdMsMax: number
  readonly #timers: Timers
  /** The queues of the keys that are locked. */
  readonly #queues = new Map<string, LockQueue>()

  /**
   * Creates a mutex. If a caller holds a lock for longer than `holdMsMax` while others wait, the
   * lock passes to the next caller. The work of the first caller is not interrupted.
   */
  constructor(holdMsMax: number, timers: Timers = systemTimers) {
    this.#holdMsMax = holdMsMax
    this.#timers = timers
  }

  async lock(key: string): Promise<Lock> {
    const queue = this.#queues.get(key)
    if (queue !== undefined) {
      return new Promise((resolve) => {
        queue.waiting.push(resolve)
        this.#limitHold(key, queue)
      })
    }
    const created: LockQueue = { holder: undefined, waiting: [], timer: undefined }
    this.#queues.set(key, created)
    return this.#take(key, created, false)
  }

  #take(key: string, queue: LockQueue, hasWaited: boolean): Lock {
    const lock: Lock = {
      hasWaited,
      [Symbol.dispose]: () => {
        if (queue.holder === lock) this.#unlock(key, queue)
      },
    }
    queue.holder = lock
    return lock
  }

  #unlock(key: string, queue: LockQueue): void {
    queue.timer?.close()
    queue.timer = undefined
    queue.holder = undefined
    const next = queue.waiting.shift()
    if (next === undefined) {
      this.#queues.delete(key)
      return
    }
    next(this.#take(key, queue, true))
    if (queue.waiting.length > 0) this.#limitHold(key, queue)
  }

  #limitHold(key: string, queue: LockQueue): void {
    queue.timer ??= this.#timers.after(this.#holdMsMax, () => this.#unlock(key, queue))
  }
}
