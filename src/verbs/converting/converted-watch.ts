/**
 * The events of a resource in another version: each batch is converted before the next one is looked at, so that they stay in order. The
 * first that cannot be converted ends the watch, and the client is told why.
 */
import { ApiError, internalError } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { type ChangeType, shownItem, type Shown, type WatchEvent } from '../../cache/event.ts'
import type { EventSource } from '../../cache/watch.ts'
import type { Converter } from './converter.ts'

export class ConvertedWatch implements EventSource {
  readonly #source: EventSource
  readonly #converter: Converter
  readonly #matches: ((object: KubeObject) => boolean) | undefined
  /** By key, whether the object was selected when it was last shown; of others nobody knows. */
  readonly #selected = new Map<string, boolean>()
  #ready: readonly WatchEvent[] = []
  #onReady: (() => void) | undefined
  #isConverting = false
  #failure: ApiError | undefined

  constructor(source: EventSource, converter: Converter, matches: ((object: KubeObject) => boolean) | undefined) {
    this.#source = source
    this.#converter = converter
    this.#matches = matches
  }

  get state(): EventSource['state'] {
    return this.#failure !== undefined || (this.#source.state === 'closed' && !this.#isConverting) ? 'closed' : 'live'
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

  /** Those before the first that fails. */
  async #convertAll(events: readonly WatchEvent[]): Promise<readonly WatchEvent[]> {
    try {
      return await this.#convert(events)
    } catch (error) {
      const [first, ...rest] = events
      if (first === undefined || rest.length === 0) {
        this.#failure = error instanceof ApiError ? error : internalError('the object cannot be converted', error)
        return []
      }
    }
    const converted: WatchEvent[] = []
    for (const event of events) {
      converted.push(...(await this.#convertAll([event])))
      if (this.#failure !== undefined) break
    }
    return converted
  }

  async #convert(events: readonly WatchEvent[]): Promise<readonly WatchEvent[]> {
    const shown = events.filter((event): event is Shown => event.type !== 'BOOKMARK')
    const items = await this.#converter.items(shown.map(({ item }) => item))
    const byEvent = new Map(shown.map((event, at) => [event, items[at] ?? event.item]))
    return events.flatMap((event): readonly WatchEvent[] => {
      if (event.type === 'BOOKMARK') return [event]
      const item = byEvent.get(event) ?? event.item
      const type = this.#typeOf(event.type, item.key, item.object())
      return type === undefined ? [] : [shownItem(type, event.revision, item)]
    })
  }

  /** What an event is to somebody who sees only some objects; undefined: nothing. */
  #typeOf(type: ChangeType, key: string, object: KubeObject): ChangeType | undefined {
    if (this.#matches === undefined) return type
    const was = this.#selected.get(key) ?? type !== 'ADDED'
    const isSelected = type !== 'DELETED' && this.#matches(object)
    if (type === 'DELETED') this.#selected.delete(key)
    else this.#selected.set(key, isSelected)
    if (isSelected) return was ? 'MODIFIED' : 'ADDED'
    return was ? 'DELETED' : undefined
  }

  #wake(): void {
    const ready = this.#onReady
    this.#onReady = undefined
    ready?.()
  }
}
