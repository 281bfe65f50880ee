import type { FrameSource } from './request.ts'

/** Calls `onEnd` when the frames end or are closed; it may be called for both. */
export const followFrames = ({ take, onReady, close }: FrameSource, onEnd: () => void): FrameSource => ({
  take: () => {
    const taken = take()
    if (taken === undefined) onEnd()
    return taken
  },
  onReady,
  close: () => {
    onEnd()
    close()
  },
})
