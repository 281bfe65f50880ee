import type { FrameSource } from './request.ts'

/**
 * Calls `onEnd` when the frames end or are closed. It may be called for both. `isWhole` means that
 * the frames came to their end.
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
 * Calls back once, when there is nothing more to send for now: the initial state of a watch has
 * been sent.
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
