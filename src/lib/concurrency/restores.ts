/**
 * Coordinates restores of the database while a server is running, as in keelson/testing. Work that
 * reads data, makes a decision and then writes must not write if the database was restored after
 * the read. So work runs in `begin`, which stores a fencing token (the number of restores so far)
 * in the asynchronous context. The store rejects writes with an older token.
 *
 * Components of the server that keep what they have read, such as caches, call `follow`. A restore
 * waits until all of them have read the restored data. A component finds the `Restores` of its
 * server in the asynchronous context in which the server was started. A server whose database is
 * never restored has no `Restores`, and no overhead.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { MaybePromise } from './maybe-promise.ts'
import { sleep, systemTimers, type Timers } from '../time/timers.ts'

/** A component of a server that makes decisions based on data that it has read earlier. */
export type RestoreListener = {
  /** Resolves when this component has received everything that was written before the call. */
  readonly latest: () => Promise<unknown>
  /**
   * Whether this component starts and stops other components that follow restores, depending on
   * what it reads. Such a component catches up before the others.
   */
  readonly changesFollowers?: boolean
}

/**
 * Maximum number of attempts to let a component catch up. An attempt can fail on a machine that
 * stalls for seconds.
 */
const TRIES = 8
/** The delay before the second attempt. It doubles after each attempt. */
const RETRY_MS = 10

/** The asynchronous context of a server. `token` is set only in code that `begin` runs. */
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
   * Returns the instance for the server in whose asynchronous context the caller runs. Returns
   * undefined if the database of this server is never restored.
   */
  static current(): Restores | undefined {
    return contexts.getStore()?.restores
  }

  /** Whether the caller runs inside `begin`. If so, its writes have a fencing token. */
  static isWorking(): boolean {
    return contexts.getStore()?.token !== undefined
  }

  /** Number of restores that have begun. */
  get count(): number {
    return this.#count
  }

  /** Whether the database was restored after the call of `begin` in which the caller runs. */
  get isOutdated(): boolean {
    const context = contexts.getStore()
    return (
      context?.restores === this && context.token !== undefined && context.token !== this.#count
    )
  }

  /**
   * Calls `start`, which starts a server. The components of this server then find this instance.
   */
  within<T>(start: () => T): T {
    return contexts.run({ restores: this, token: undefined }, start)
  }

  /**
   * Runs work whose writes are rejected if the database is restored after this call. If a restore
   * is in progress, waits for its end first.
   */
  async begin<T>(work: () => MaybePromise<T>): Promise<T> {
    while (this.#ended !== undefined) await this.#ended
    return await contexts.run({ restores: this, token: this.#count }, work)
  }

  /**
   * Adds a component of the server for which restores wait. Disposing of the returned value removes
   * the component.
   */
  follow(follower: RestoreListener): Disposable {
    this.#followers.add(follower)
    return { [Symbol.dispose]: () => void this.#followers.delete(follower) }
  }

  /**
   * Restores the database by calling `write`. Resolves when all components have caught up.
   * Concurrent calls run one after another.
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
   * Waits until a component has caught up, or is removed. Fails if the component cannot catch up.
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
 * Runs work in `restores.begin`. If `restores` is undefined, runs the work directly, without a
 * fencing token.
 */
export const beginWork = <T>(restores: Restores | undefined, work: () => Promise<T>): Promise<T> =>
  restores === undefined ? work() : restores.begin(work)
