/**
 * Restores of the database while a server is running, as in keelson/testing. Work that reads data,
 * makes a decision and then writes must not write after a restore if the decision is from before
 * it. So work runs in `begin`, which stores a fencing token (the number of restores so far) in the
 * asynchronous context. The store rejects writes with an older token. Parts of the server that keep
 * what they have read call `follow`: a restore waits until all of them have caught up.
 *
 * A part finds the instance of its server in the asynchronous context in which the server was
 * started, so a new controller need not be given the instance. A server whose database is never
 * restored has no instance, and no overhead.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { MaybePromise } from './maybe-promise.ts'
import { sleep, systemTimers, type Timers } from '../time/timers.ts'

/** A part of a server that bases decisions on what it has read earlier. */
export type RestoreListener = {
  /**
   * Resolves when the part of the server that listens has received everything that was written
   * before the call.
   */
  readonly latest: () => Promise<unknown>
  /**
   * Whether other listeners are added or removed because of what this part of the server reads.
   * Such a part catches up before the others.
   */
  readonly changesFollowers?: boolean
}

/**
 * Maximum number of attempts to let a part of the server catch up. An attempt can fail on a machine
 * that stalls for seconds.
 */
const TRIES = 8
/** The delay before the second attempt. It doubles after each attempt. */
const RETRY_MS = 10

/** The asynchronous context of a server. `token` is undefined outside of work. */
type Context = { readonly restores: Restores; readonly token: number | undefined }

const contexts = new AsyncLocalStorage<Context>()

export class Restores {
  readonly #timers: Pick<Timers, 'after'>
  readonly #followers = new Set<RestoreListener>()
  #count = 0
  #ended: Promise<void> | undefined

  constructor(timers: Pick<Timers, 'after'> = systemTimers) {
    this.#timers = timers
  }

  /**
   * Returns the instance of the server that runs in this context. Returns undefined if the database
   * of the server is never restored.
   */
  static current(): Restores | undefined {
    return contexts.getStore()?.restores
  }

  /** Whether work runs in this context. If so, its writes have a fencing token. */
  static isWorking(): boolean {
    return contexts.getStore()?.token !== undefined
  }

  /** Number of restores that have begun. */
  get count(): number {
    return this.#count
  }

  /** Whether the work in this context began before the last restore. */
  get isOutdated(): boolean {
    const context = contexts.getStore()
    return (
      context?.restores === this && context.token !== undefined && context.token !== this.#count
    )
  }

  /** Starts a server, so that its parts find this instance. */
  within<T>(start: () => T): T {
    return contexts.run({ restores: this, token: undefined }, start)
  }

  /** Runs work that is based on what it reads from now on. Waits if a restore is in progress. */
  async begin<T>(work: () => MaybePromise<T>): Promise<T> {
    while (this.#ended !== undefined) await this.#ended
    return await contexts.run({ restores: this, token: this.#count }, work)
  }

  /**
   * Adds a part of the server for which restores wait. Disposing of the returned value removes the
   * part.
   */
  follow(follower: RestoreListener): Disposable {
    this.#followers.add(follower)
    return { [Symbol.dispose]: () => void this.#followers.delete(follower) }
  }

  /**
   * Restores the database by calling `write`. Resolves when all followers have caught up. Restores
   * run one after another.
   */
  async restore(write: () => void): Promise<void> {
    while (this.#ended !== undefined) await this.#ended
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#ended = promise
    this.#count++
    try {
      write()
      await this.within(() => this.#caughtUp())
    } finally {
      this.#ended = undefined
      resolve()
    }
  }

  async #caughtUp(): Promise<void> {
    const asked = new Set<RestoreListener>()
    for (;;) {
      const others = [...this.#followers].filter((follower) => !asked.has(follower))
      if (others.length === 0) return
      const first = others.filter(({ changesFollowers = false }) => changesFollowers)
      const next = first.length > 0 ? first : others
      for (const follower of next) asked.add(follower)
      await Promise.all(next.map((follower) => this.#ask(follower)))
    }
  }

  /**
   * Waits until a part of the server has caught up. Fails if the part cannot catch up, unless it is
   * removed in the meantime.
   */
  async #ask(follower: RestoreListener): Promise<void> {
    for (let tries = 1; this.#followers.has(follower); tries++) {
      try {
        await follower.latest()
        return
      } catch (error) {
        if (tries === TRIES) throw error
        await sleep(this.#timers, RETRY_MS * 2 ** (tries - 1))
      }
    }
  }
}

/**
 * Runs the work of a part of the server whose restores `restores` coordinates. If `restores` is
 * undefined, the work runs without a fencing token.
 */
export const beginWork = <T>(restores: Restores | undefined, work: () => Promise<T>): Promise<T> =>
  restores === undefined ? work() : restores.begin(work)
