/** Wraps a watch so that a test can end it. */
import type { ResourceInfo } from '../../api/context.ts'
import type { FrameSource } from '../../api/request.ts'

export type OpenWatch = {
  readonly info: ResourceInfo
  /** Ends the watch after this number of further events. */
  readonly closeAfter: (events: number) => void
}

export type CutOptions = {
  readonly info: ResourceInfo
  /**
   * Whether events are lines of JSON, which may be split among frames. Otherwise each frame is one
   * event.
   */
  readonly isLines: boolean
  /** Called when the watch ends, possibly more than once. */
  readonly onEnd: () => void
}

export function cutFrames(
  source: FrameSource,
  { info, isLines, onEnd }: CutOptions,
): { readonly frames: FrameSource; readonly watch: OpenWatch } {
  const cut = isLines ? firstLines : firstFrames
  let left = Infinity
  let isOver = false
  let waiting: (() => void) | undefined
  const end = (): undefined => {
    isOver = true
    source.close()
    onEnd()
  }
  const frames: FrameSource = {
    take: () => {
      if (isOver || left <= 0) return end()
      const taken = source.take()
      if (taken === undefined) return end()
      // Do not count the events if no fault will end the watch, which is the most common case.
      if (left === Infinity) return taken
      const { passed, events } = cut(taken, left)
      left -= events
      return passed
    },
    onReady: (ready) => {
      const once = (): void => {
        if (waiting !== once) return
        waiting = undefined
        ready()
      }
      waiting = once
      source.onReady(once)
    },
    close: () => {
      source.close()
      onEnd()
    },
  }
  const closeAfter = (events: number): void => {
    left = Math.min(left, events)
    if (left > 0) return
    const ready = waiting
    // Callers expect an asynchronous call of `ready`.
    if (ready !== undefined) setImmediate(ready)
  }
  return { frames, watch: { info, closeAfter } }
}

/**
 * Returns the frames that contain the first `eventsMax` events, and the number of events in them.
 */
type Cut = (
  frames: readonly Buffer[],
  eventsMax: number,
) => {
  readonly passed: readonly Buffer[]
  readonly events: number
}

const firstFrames: Cut = (frames, eventsMax) => {
  const passed = frames.slice(0, eventsMax)
  return { passed, events: passed.length }
}

const firstLines: Cut = (frames, eventsMax) => {
  let events = 0
  for (const [at, frame] of frames.entries()) {
    for (let end = frame.indexOf('\n'); end >= 0; end = frame.indexOf('\n', end + 1)) {
      if (++events === eventsMax)
        return { passed: [...frames.slice(0, at), frame.subarray(0, end + 1)], events }
    }
  }
  return { passed: frames, events }
}
