import type { FrameSource } from './request.ts'

/**
 * Wraps a source of frames. Calls `onEnd(true)` when the frames end by themselves, and
 * `onEnd(false)` when the source is closed. `onEnd` can be called for both reasons, and several
 * times.
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
 * Wraps a source of frames. Calls `caughtUp` once, as soon as no further frame is available. A
 * watch has sent its initial state at that time.
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
