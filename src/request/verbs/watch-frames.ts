/**
 * Produces the frames of a watch for one client. Events are read from the watcher when the client
 * has read the previous ones. The watch ends when the client disconnects, when its timeout expires,
 * or when the watcher is closed.
 */
import { noMemory, toStatus } from '../../api/errors.ts'
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
  /**
   * Reserves memory for the frames that only this watch uses, until they are read and the next
   * frames are requested. Returns false if not enough memory is available.
   */
  readonly holdUnsent: (bytes: number) => boolean
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
  /** Memory that is reserved for frames that the client has not read yet. */
  #heldBytes = 0
  #held: HeldEvents | undefined

  constructor(watcher: EventSource, options: WatchFramesOptions) {
    this.#watcher = watcher
    this.#options = options
    this.#leftMs = options.timeoutMs
    // The timer must not keep the process alive. If the watch has a connection, the connection
    // keeps the process alive. The watch of a controller has no connection.
    this.#timer = setTimeout(this.close, Math.max(options.timeoutMs, 0)).unref()
    if (options.sendsBookmarks) this.#planBookmark()
    if (options.timeoutMs < 0) this.close()
  }

  /**
   * Returns the frames that are available now. Frames of changes are not copied, but shared with
   * other watches. Thus a slow client needs no memory of its own for them. Frames of the initial
   * objects are valid until the next call.
   */
  readonly take = (): readonly Buffer[] | undefined => {
    const { framing, onFrames } = this.#options
    // The client has read the previous frames, so their memory can be reused.
    framing.memory?.begin()
    this.#hold(0)
    const events = this.#next()
    if (events === undefined) return none
    if (events.length === 0) {
      // Release the memory. The next event might arrive hours later, and the frames of the previous
      // batch are no longer in use.
      if (this.#watcher.state !== 'replaying') framing.memory?.release()
      return this.#watcher.state === 'closed' ? this.#end() : none
    }
    const encoded = encode(events, framing)
    if (encoded === undefined) {
      this.close()
      return undefined
    }
    if (this.#watcher.state !== 'replaying') framing.memory?.release()
    if (!this.#hold(encoded.unsharedBytes)) return this.#end(noMemory())
    onFrames(encoded.counted)
    return encoded.frames
  }

  #hold(bytes: number): boolean {
    if (bytes === this.#heldBytes) return true
    const isHeld = this.#options.holdUnsent(bytes)
    this.#heldBytes = isHeld ? bytes : 0
    return isHeld
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
   * Ends the watch, and returns the last frame, which contains the error. Returns undefined if
   * there was no error.
   */
  #end(failure = this.#watcher.failure): readonly Buffer[] | undefined {
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
   * Schedules the next bookmark. The bookmark is sent only if the resource has changed since the
   * watch began.
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

type EncodedEvents = {
  readonly frames: readonly Buffer[]
  /** The length of each event's frame. */
  readonly counted: readonly { readonly length: number }[]
  /** Total length of the frames that no other watch shares. */
  readonly unsharedBytes: number
}

/** Encodes events. Returns undefined if one of the events cannot be represented. */
function encode(events: readonly WatchEvent[], framing: Framing): EncodedEvents | undefined {
  const frames: Buffer[] = []
  /** The length of each event's frame. Undefined as long as each event is a single buffer. */
  let counted: { readonly length: number }[] | undefined
  let unsharedBytes = 0
  for (const event of events) {
    const parts = framing.parts?.(event)
    if (parts !== undefined) {
      counted ??= [...frames]
      counted.push({ length: parts.reduce((sum, { length }) => sum + length, 0) })
      // Bounded: one event has only a few parts, so they can be passed as arguments.
      frames.push(...parts)
      continue
    }
    const frame = framing.event(event)
    if (frame === undefined) return undefined
    frames.push(frame)
    counted?.push(frame)
    const isUnshared = framing.isUnshared || (event.type !== 'BOOKMARK' && !event.isShared)
    if (isUnshared) unsharedBytes += frame.length
  }
  return { frames, counted: counted ?? frames, unsharedBytes }
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
    // If an object cannot be decoded, the error is reported later, when the frame of the object is
    // created.
    if (event.type !== 'BOOKMARK' && event.item.isUnprepared)
      await event.item.prepare().catch(() => undefined)
  }
}
