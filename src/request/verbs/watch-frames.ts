/**
 * The frames of a watch for one client: events are taken from the watcher when the client has read
 * the previous ones. The watch ends when the client disconnects, when its timeout is over, or when
 * the watcher is closed.
 */
import { toStatus } from '../../api/errors.ts'
import type { FrameSource } from '../../api/request.ts'
import type { WatchEvent } from '../../storage/cache/event.ts'
import type { EventSource } from '../../storage/cache/watch.ts'
import type { Framing } from './represent/framing.ts'

/** Interval of bookmarks, as upstream. */
const BOOKMARK_MS = 60_000
/**
 * The last bookmark is sent this long before the timeout, so that the client can resume from it.
 */
const LAST_BOOKMARK_MS = 2_000

export type WatchFramesOptions = {
  readonly framing: Framing
  readonly timeoutMs: number
  readonly sendsBookmarks: boolean
  readonly onFrames: (frames: readonly { readonly length: number }[]) => void
  /** May be called more than once. */
  readonly onEnd: () => void
}

const none: readonly Buffer[] = []

/**
 * Events that were taken from the watcher, but are not sent before their large objects are printed.
 */
type HeldEvents = {
  readonly events: readonly WatchEvent[]
  readonly printed: Promise<void>
  isPrinted: boolean
}

export class WatchFrames implements FrameSource {
  readonly #watcher: EventSource
  readonly #options: WatchFramesOptions
  readonly #timer: NodeJS.Timeout
  #bookmarkTimer: NodeJS.Timeout | undefined
  #leftMs: number
  #isOver = false
  #held: HeldEvents | undefined

  constructor(watcher: EventSource, options: WatchFramesOptions) {
    this.#watcher = watcher
    this.#options = options
    this.#leftMs = options.timeoutMs
    // What keeps the process alive is the connection, not the watch: a controller's own has none.
    this.#timer = setTimeout(this.close, Math.max(options.timeoutMs, 0)).unref()
    if (options.sendsBookmarks) this.#planBookmark()
    if (options.timeoutMs < 0) this.close()
  }

  /**
   * Frames are shared with other watchers and not copied, so that a slow client does not hold
   * copies of its own. Those of the initial objects are valid until the next take.
   */
  readonly take = (): readonly Buffer[] | undefined => {
    const { framing } = this.#options
    framing.memory?.begin()
    const events = this.#next()
    if (events === undefined) return none
    if (events.length === 0) {
      // Nothing may come for hours, and nobody reads the frames of the batch before it any more.
      if (this.#watcher.state !== 'replaying') framing.memory?.release()
      return this.#watcher.state === 'closed' ? this.#end() : none
    }
    const frames: Buffer[] = []
    /** Each event once, if some are sent in parts. */
    let counted: { readonly length: number }[] | undefined
    for (const event of events) {
      const parts = framing.parts?.(event)
      if (parts !== undefined) {
        counted ??= [...frames]
        counted.push({ length: parts.reduce((sum, { length }) => sum + length, 0) })
        // limit: the parts of one event
        frames.push(...parts)
        continue
      }
      const frame = framing.event(event)
      if (frame === undefined) {
        this.close()
        return undefined
      }
      frames.push(frame)
      counted?.push(frame)
    }
    if (this.#watcher.state !== 'replaying') framing.memory?.release()
    this.#options.onFrames(counted ?? frames)
    return frames
  }

  /** Undefined: the next events are held back. */
  #next(): readonly WatchEvent[] | undefined {
    if (this.#held !== undefined) {
      const { events, isPrinted } = this.#held
      if (!isPrinted) return undefined
      this.#held = undefined
      return events
    }
    const events = this.#watcher.take()
    if (!events.some(isUnprepared)) return events
    this.#held = hold(events)
    return undefined
  }

  /** After the last event: the error that closed the watcher, if there is one. */
  #end(): readonly Buffer[] | undefined {
    const { failure } = this.#watcher
    this.close()
    if (failure === undefined || this.#isOver) return undefined
    this.#isOver = true
    return [this.#options.framing.error(toStatus(failure))]
  }

  readonly onReady = (ready: () => void): void => {
    if (this.#held === undefined) this.#watcher.onReady(ready)
    else void this.#held.printed.then(ready)
  }

  /** A bookmark is only sent if the resource has changed since the watch began. */
  #planBookmark(): void {
    if (this.#leftMs <= LAST_BOOKMARK_MS) return
    const waitMs = Math.min(BOOKMARK_MS, this.#leftMs - LAST_BOOKMARK_MS)
    this.#leftMs -= waitMs
    this.#bookmarkTimer = setTimeout(() => {
      if (this.#watcher.hasNews) this.#watcher.requestBookmark()
      this.#planBookmark()
    }, waitMs).unref()
  }

  readonly close = (): void => {
    clearTimeout(this.#timer)
    clearTimeout(this.#bookmarkTimer)
    this.#held = undefined
    this.#watcher.close()
    this.#options.onEnd()
  }
}

/**
 * Whether its object would be printed at once. A write is often reported before its own request has
 * printed it.
 */
const isUnprepared = (event: WatchEvent): boolean =>
  event.type !== 'BOOKMARK' && event.item.isUnprepared

/** Prints the large objects of events in parts, between which others are served. */
function hold(events: readonly WatchEvent[]): HeldEvents {
  const held = { events, printed: Promise.resolve(), isPrinted: false }
  held.printed = prepare(events).then(() => {
    held.isPrinted = true
  })
  return held
}

async function prepare(events: readonly WatchEvent[]): Promise<void> {
  for (const event of events) {
    // An object that cannot be decoded is reported when its frame is made.
    if (event.type !== 'BOOKMARK' && event.item.isUnprepared)
      await event.item.prepare().catch(() => undefined)
  }
}
