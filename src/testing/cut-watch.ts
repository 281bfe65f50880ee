/** A watch that a test can end. */
import type { ResourceInfo } from '../api/context.ts'
import type { FrameSource } from '../api/request.ts'

export type OpenWatch = {
  readonly info: ResourceInfo
  /** The watch ends after so many more events. */
  readonly closeAfter: (events: number) => void
}

/** `onEnd` may be called more than once. */
export function cutFrames(
  source: FrameSource,
  info: ResourceInfo,
  onEnd: () => void,
): { readonly frames: FrameSource; readonly watch: OpenWatch } {
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
      // Each frame is one event.
      const taken = source.take()
      if (taken === undefined) return end()
      const passed = taken.length <= left ? taken : taken.slice(0, left)
      left -= passed.length
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
    // As the source: in a later turn.
    if (ready !== undefined) setImmediate(ready)
  }
  return { frames, watch: { info, closeAfter } }
}
