/**
 * Watches a resource in the cache and reports its changes to controllers that keep no state about
 * the objects. Changes can be missed while the watch is interrupted, so the controller must check
 * all objects again when a new watch begins.
 */
import type { Log } from '../lib/telemetry/log.ts'
import { Restores } from '../lib/concurrency/restores.ts'
import { sleep, systemTime } from '../lib/time/timers.ts'
import type { ObjectEvent, WatchEvent } from '../storage/cache/event.ts'
import { type EventSource, takeAll, takeUntilClosed } from '../storage/cache/watch.ts'
import type { CacheAccess } from './cache-access.ts'

/** Delay before an interrupted watch is reopened. */
const RETRY_MS = 100

export type ChangesInformerOptions = {
  /** Name of the informer in log messages. */
  readonly name: string
  readonly access: CacheAccess
  readonly onChange: (change: ObjectEvent) => void
  /**
   * Called when a watch begins. Changes before this moment may not have been passed to `onChange`.
   */
  readonly onStart: () => void
  readonly log: Log
}

export class ChangesInformer implements AsyncDisposable {
  readonly #options: ChangesInformerOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  readonly #restored: Disposable | undefined
  #source: EventSource | undefined

  constructor(options: ChangesInformerOptions) {
    this.#options = options
    this.#restored = Restores.current()?.follow(this)
    this.#running = this.#run()
  }

  /**
   * Resolves when `onChange` has been called for all changes that any server had acknowledged when
   * this function was called. Rejects if there is currently no watch.
   */
  async latest(): Promise<void> {
    const { keys, reader } = this.#options.access
    const { from } = keys.range()
    await reader.list({ from, to: from }, 'latest')
    const source = this.#source
    if (source !== undefined) takeAll(source, this.#passOn)
    // If the watch was too slow to receive all events, `takeAll` has closed it. When the next watch
    // begins, all objects are checked.
    if (source?.state !== 'live') throw new Error(`${this.#options.name} are not watched yet`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#restored?.[Symbol.dispose]()
    this.#stopping.abort()
    this.#source?.close()
    await this.#running
  }

  async #run(): Promise<void> {
    const { name, log } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#followOnce()
      } catch (error) {
        if (!signal.aborted)
          log('warn', `failed to watch ${name}; retrying`, { error: String(error) })
      }
      // A rejection means that the server stops, which ends the loop.
      await sleep(systemTime, RETRY_MS, signal).catch(() => undefined)
    }
  }

  async #followOnce(): Promise<void> {
    const { access, onStart } = this.#options
    const { keys, reader } = access
    const range = keys.range()
    const { revision } = await reader.list({ from: range.from, to: range.from }, 'latest')
    const source = await reader.watch({ range, start: { after: revision } })
    this.#source = source
    if (this.#stopping.signal.aborted) source.close()
    onStart()
    await takeUntilClosed(source, this.#passOn)
  }

  readonly #passOn = (events: readonly WatchEvent[]): void => {
    for (const event of events) if (event.type !== 'BOOKMARK') this.#options.onChange(event)
  }
}
