import { type HandleAs, request } from '../api/own-request.ts'

export type Followed = {
  readonly path: string
  /** Absent: from the state that memory has. */
  readonly resourceVersion?: string
  readonly signal: AbortSignal
}

/** Hands over the events of a watch of the server on itself, framed as JSON lines, as they come; returns when it has ended. */
export async function followWatch(
  handle: HandleAs,
  { path, resourceVersion, signal }: Followed,
  onFrames: (frames: readonly Buffer[]) => void | Promise<void>,
): Promise<void> {
  const query = { watch: 'true', ...(resourceVersion === undefined ? {} : { resourceVersion }) }
  const response = await request(handle, { method: 'GET', path, query, signal })
  if (!('frames' in response)) return
  const { frames } = response
  signal.addEventListener('abort', () => frames.close(), { once: true })
  if (signal.aborted) frames.close()
  for (;;) {
    const taken = frames.take()
    if (taken === undefined) return
    if (taken.length > 0) await onFrames(taken)
    else await new Promise<void>((resolve) => frames.onReady(resolve))
  }
}
