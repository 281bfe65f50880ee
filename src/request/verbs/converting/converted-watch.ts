/**
 * Converts the events of a watch to another version. To preserve their order, each batch is
 * converted before the next one is read. If an object cannot be converted, the watch ends, and the
 * client receives the error.
 */
import { ApiError, internalError } from '../../../api/errors.ts'
import type { ObjectEvent, WatchEvent } from '../../../storage/cache/event.ts'
import type { Item, Matches } from '../../../storage/cache/item.ts'
import type { EventSource } from '../../../storage/cache/watch.ts'
import type { Converter } from './converter.ts'

export class ConvertedWatch implements EventSource {
  readonly #source: EventSource
  readonly #converter: Converter
  readonly #matches: Matches | undefined
  #ready: readonly WatchEvent[] = []
  #onReady: (() => void) | undefined
  #isConverting = false
  #failure: ApiError | undefined

  constructor(source: EventSource, converter: Converter, matches: Matches | undefined) {
    this.#source = source
    this.#converter = converter
    this.#matches = matches
  }

  get state(): EventSource['state'] {
    return this.#failure !== undefined || (this.#source.state === 'closed' && !this.#isConverting)
      ? 'closed'
      : 'live'
  }

  get failure(): ApiError | undefined {
    return this.#failure
  }

  get hasNews(): boolean {
    return this.#source.hasNews
  }

  take(): readonly WatchEvent[] {
    const events = this.#ready
    this.#ready = []
    if (events.length === 0 && !this.#isConverting && this.#failure === undefined) this.#next()
    return events
  }

  onReady(ready: () => void): void {
    this.#onReady = ready
    if (this.#ready.length > 0 || this.#failure !== undefined) setImmediate(() => this.#wake())
    else if (!this.#isConverting) this.#source.onReady(() => this.#next())
  }

  requestBookmark(): void {
    this.#source.requestBookmark()
  }

  close(): void {
    this.#source.close()
    this.#wake()
  }

  #next(): void {
    const events = this.#source.take()
    if (events.length === 0) {
      if (this.#source.state === 'closed') this.#wake()
      else if (this.#onReady !== undefined) this.#source.onReady(() => this.#next())
      return
    }
    this.#isConverting = true
    void this.#convertAll(events).then((converted) => {
      this.#isConverting = false
      this.#ready = converted
      if (this.#failure !== undefined) this.#source.close()
      this.#wake()
    })
  }

  /**
   * Converts events. If the conversion of one event fails, returns the converted events before it.
   */
  async #convertAll(events: readonly WatchEvent[]): Promise<readonly WatchEvent[]> {
    try {
      return await this.#convert(events)
    } catch (error) {
      const [first, ...rest] = events
      if (first === undefined || rest.length === 0) {
        this.#failure =
          error instanceof ApiError ? error : internalError('the object cannot be converted', error)
        return []
      }
    }
    const converted: WatchEvent[] = []
    for (const event of events) {
      // Bounded: each event is converted to at most one event, which can be passed as an argument.
      converted.push(...(await this.#convertAll([event])))
      if (this.#failure !== undefined) break
    }
    return converted
  }

  async #convert(events: readonly WatchEvent[]): Promise<readonly WatchEvent[]> {
    const seen: Item[] = []
    for (const event of events) {
      if (event.type === 'BOOKMARK') continue
      seen.push(event.item)
      const before = this.#before(event)
      if (before !== undefined) seen.push(before)
    }
    const converted = await this.#converter.items(seen)
    const shown: WatchEvent[] = []
    let at = 0
    for (const event of events) {
      if (event.type === 'BOOKMARK') {
        shown.push(event)
        continue
      }
      const now = converted[at++] ?? event.item
      const before = this.#before(event) && converted[at++]
      const one = this.#shown(event, now, before)
      if (one !== undefined) shown.push(one)
    }
    return shown
  }

  /**
   * Returns the object before the change. If the watch has a selector, this object must also be
   * converted, because the selector is evaluated before and after the change. The converted object
   * is usually still in the cache.
   */
  #before({ type, previous }: ObjectEvent): Item | undefined {
    return this.#matches === undefined || type !== 'MODIFIED' ? undefined : previous
  }

  /**
   * Returns the event for the client. Returns undefined if the selector matches the object neither
   * before nor after the change.
   */
  #shown(
    { type, revision }: ObjectEvent,
    now: Item,
    changed: Item | undefined,
  ): ObjectEvent | undefined {
    const { frames } = this.#converter
    const matches = this.#matches
    if (matches === undefined) return frames.shown(type, revision, now)
    const before = type === 'DELETED' ? now : changed
    const wasSelected = before !== undefined && matches(before)
    const isSelected = type !== 'DELETED' && matches(now)
    if (isSelected) return frames.shown(wasSelected ? 'MODIFIED' : 'ADDED', revision, now)
    return wasSelected ? frames.shown('DELETED', revision, before) : undefined
  }

  #wake(): void {
    const ready = this.#onReady
    this.#onReady = undefined
    ready?.()
  }
}
