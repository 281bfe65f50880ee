import type { FrameSource } from './request.ts'

/**
 * Wraps the source of the frames of a response. Calls `onEnd(true)` when the last frame was read,
 * and `onEnd(false)` when the source is closed. `onEnd` can be called several times, with either
 * value.
 */
export const followFrames = (
  { take, onReady, close }: FrameSource,
  onEnd: (isWhole: boolean) => void,
): FrameSource => ({
  take: () => {
    const taken = take()
    if (taken === undefined) onEnd(true)
    return taken
  },
  onReady,
  close: () => {
    onEnd(false)
    close()
  },
})

/**
 * Wraps the source of the frames of a response. Calls `caughtUp` once, when no further frame is
 * available for the first time. A watch has sent its initial state by then.
 */
export function whenCaughtUp(frames: FrameSource, caughtUp: () => void): FrameSource {
  let isBehind = true
  return {
    take: () => {
      const taken = frames.take()
      if (isBehind && (taken === undefined || taken.length === 0)) {
        isBehind = false
        caughtUp()
      }
      return taken
    },
    onReady: (ready) => frames.onReady(ready),
    close: () => frames.close(),
  }
}
