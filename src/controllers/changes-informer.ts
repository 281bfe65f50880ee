/**
 * Reports the changes of a resource from now on, from a watch of the cache, to controllers that
 * keep no state about its objects. Changes may be missed when the watch ends, so the controller
 * must then check all objects again.
 */
import type { Log } from '../lib/telemetry/log.ts'
import { Restores } from '../lib/concurrency/restores.ts'
import { sleep, systemTime } from '../lib/time/timers.ts'
import type { ObjectEvent, WatchEvent } from '../storage/cache/event.ts'
import { type EventSource, takeAll, takeUntilClosed } from '../storage/cache/watch.ts'
import type { CacheAccess } from './cache-access.ts'

/** Delay before a watch that ended or failed is reopened. */
const RETRY_MS = 100

export type ChangesInformerOptions = {
  /** Name for the log. */
  readonly name: string
  readonly access: CacheAccess
  readonly onChange: (change: ObjectEvent) => void
  /** Called when a watch begins: everything before it may have changed. */
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
   * Resolves when all changes that were acknowledged before the call have been reported. Rejects if
   * that is not possible now.
   */
  async latest(): Promise<void> {
    const { keys, reader } = this.#options.access
    const { from } = keys.range()
    await reader.list({ from, to: from }, 'latest')
    const source = this.#source
    if (source !== undefined) takeAll(source, this.#passOn)
    // Taking events closes a watch that was too slow. When the next watch begins, all objects are
    // checked.
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
      // Rejects only when the server stops.
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
