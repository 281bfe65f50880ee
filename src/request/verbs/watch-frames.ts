/**
 * Produces the frames of a watch for one client. Events are read from the watcher when the client
 * has read the previous ones. The watch ends when the client disconnects, when its timeout expires,
 * or when the watcher is closed.
 */
import { toStatus } from '../../api/errors.ts'
import type { FrameSource } from '../../api/request.ts'
import type { WatchEvent } from '../../storage/cache/event.ts'
import type { EventSource } from '../../storage/cache/watch.ts'
import type { Framing } from './represent/framing.ts'

/** Interval between bookmarks, as in kube-apiserver. */
const BOOKMARK_MS = 60_000
/**
 * Time between the last bookmark and the timeout, so that the client can resume from a recent
 * version.
 */
const LAST_BOOKMARK_MS = 2_000

export type WatchFramesOptions = {
  readonly framing: Framing
  readonly timeoutMs: number
  readonly sendsBookmarks: boolean
  readonly onFrames: (frames: readonly { readonly length: number }[]) => void
  /** Called when the watch ends, possibly more than once. */
  readonly onEnd: () => void
}

const none: readonly Buffer[] = []

/**
 * Events that were read from the watcher, but are not sent until their large objects are
 * serialized.
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
    // The timer must not keep the process alive. If the watch has a connection, the connection does
    // so. The watch of a controller has no connection.
    this.#timer = setTimeout(this.close, Math.max(options.timeoutMs, 0)).unref()
    if (options.sendsBookmarks) this.#planBookmark()
    if (options.timeoutMs < 0) this.close()
  }

  /**
   * Returns the frames that are available now. Frames are shared with other watches instead of
   * copied, so that a slow client needs no memory of its own for them. Frames of the initial
   * objects are valid until the next call.
   */
  readonly take = (): readonly Buffer[] | undefined => {
    const { framing } = this.#options
    framing.memory?.begin()
    const events = this.#next()
    if (events === undefined) return none
    if (events.length === 0) {
      // Release the memory, because the next event might arrive hours later, and the frames of the
      // previous batch are no longer in use.
      if (this.#watcher.state !== 'replaying') framing.memory?.release()
      return this.#watcher.state === 'closed' ? this.#end() : none
    }
    const frames: Buffer[] = []
    /** The length of each event's frame. Undefined while no event is sent in parts. */
    let counted: { readonly length: number }[] | undefined
    for (const event of events) {
      const parts = framing.parts?.(event)
      if (parts !== undefined) {
        counted ??= [...frames]
        counted.push({ length: parts.reduce((sum, { length }) => sum + length, 0) })
        // limit: one event has only a few parts, so they can be passed as arguments
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

  /** Returns the next events, or undefined while their large objects are being serialized. */
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

  /**
   * Returns the last frame, which contains the error that closed the watcher. Undefined if there
   * was no error.
   */
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

  /**
   * Schedules the next bookmark. It is sent only if the resource has changed since the watch began.
   */
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
 * Whether the JSON of the event's object has not been generated yet. An event often arrives before
 * its own write request has generated the JSON.
 */
const isUnprepared = (event: WatchEvent): boolean =>
  event.type !== 'BOOKMARK' && event.item.isUnprepared

/**
 * Serializes the large objects of the events in slices, so that other requests are served between
 * them.
 */
function hold(events: readonly WatchEvent[]): HeldEvents {
  const held = { events, printed: Promise.resolve(), isPrinted: false }
  held.printed = prepare(events).then(() => {
    held.isPrinted = true
  })
  return held
}

async function prepare(events: readonly WatchEvent[]): Promise<void> {
  for (const event of events) {
    // If an object cannot be decoded, the error is reported when its frame is created.
    if (event.type !== 'BOOKMARK' && event.item.isUnprepared)
      await event.item.prepare().catch(() => undefined)
  }
}
