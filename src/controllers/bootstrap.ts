/**
 * Creates the objects that every new cluster has, if they do not exist. Objects that another server
 * creates at the same time are not overwritten.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Handler } from '../api/request.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { removeOldApiServices } from './old-api-services.ts'
import { create, type RequiredObject } from './wanted.ts'

/** Delay between two attempts. */
const RETRY_MS = 1000

export type BootstrapOptions = {
  readonly handle: Handler
  /** Objects that are created before the server is ready. */
  readonly first: readonly RequiredObject[]
  readonly prepare: (signal: AbortSignal) => Promise<void>
  /** Objects that are created after the server is ready. */
  readonly later: readonly RequiredObject[]
  readonly log: Log
}

export class Bootstrap implements AsyncDisposable {
  readonly #options: BootstrapOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #isDone = false

  constructor(options: BootstrapOptions) {
    this.#options = options
  }

  /**
   * Resolves after the first attempt to create `first` and to run `prepare`. Further attempts, and
   * the creation of `later`, continue in the background.
   */
  async start(): Promise<void> {
    this.#isDone = await this.#ensureFirst()
    this.#running = this.#run()
  }

  get isDone(): boolean {
    return this.#isDone
  }

  /**
   * Resolves when all objects exist, or when the server stops. Valid only after `start` has
   * resolved.
   */
  get ended(): Promise<void> {
    return this.#running
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    if (!this.#isDone) await this.#repeat(() => this.#ensureFirst())
    this.#isDone = !this.#stopping.signal.aborted
    const { handle, later } = this.#options
    if (later.length === 0) return
    await this.#repeat(() => this.#ensureAll(later))
    await this.#repeat(() => removeOldApiServices(handle, later, this.#stopping.signal))
  }

  /** Retries until `ensure` succeeds or the server stops. */
  async #repeat(ensure: () => Promise<boolean>): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted && !(await ensure())) {
      // A rejection means that the server stops, which ends the loop.
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  async #ensureFirst(): Promise<boolean> {
    const { first, prepare, log } = this.#options
    if (!(await this.#ensureAll(first))) return false
    try {
      await prepare(this.#stopping.signal)
      return true
    } catch (error) {
      log('warn', 'failed to prepare the roles and service addresses of the cluster; retrying', {
        error: String(error),
      })
      return false
    }
  }

  async #ensureAll(all: readonly RequiredObject[]): Promise<boolean> {
    const { signal } = this.#stopping
    const { handle, log } = this.#options
    const statuses = await Promise.all(all.map((wanted) => create(handle, wanted, signal)))
    const failed = all.filter((_, at) => statuses[at] !== undefined)
    const [first] = failed
    if (first === undefined) return true
    if (signal.aborted) return false
    log('warn', 'failed to create objects that every cluster has; retrying', {
      count: failed.length,
      collection: first.collection,
      status: statuses.find((status) => status !== undefined),
    })
    return false
  }
}
