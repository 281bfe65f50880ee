import type { FrameSource } from './request.ts'

/**
 * Wraps frames and calls `onEnd` when they end or are closed, so possibly twice. `isWhole` means
 * that the frames ended by themselves.
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
 * Wraps frames and calls back once, when no more frames are available for now. For a watch, its
 * initial state has then been sent.
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
