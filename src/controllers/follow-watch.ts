import { request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'
import { beginWork, Restores } from '../lib/concurrency/restores.ts'

export type FollowWatchOptions = {
  readonly path: string
  /** Version after which the watch starts. If undefined, the watch starts from the cached state. */
  readonly resourceVersion?: string
  readonly signal: AbortSignal
}

/**
 * Opens a watch with a request of the server to itself, and passes its frames, which are JSON
 * lines, to `onFrames`. Resolves when the watch has ended.
 */
export async function followWatch(
  handle: Handler,
  { path, resourceVersion, signal }: FollowWatchOptions,
  onFrames: (frames: readonly Buffer[]) => MaybePromise<void>,
): Promise<void> {
  const query = { watch: 'true', ...(resourceVersion === undefined ? {} : { resourceVersion }) }
  const response = await request(handle, { method: 'GET', path, query, signal })
  if (!('frames' in response)) return
  const { frames } = response
  const restores = Restores.current()
  signal.addEventListener('abort', () => frames.close(), { once: true })
  if (signal.aborted) frames.close()
  for (;;) {
    const taken = frames.take()
    if (taken === undefined) return
    if (taken.length > 0) await beginWork(restores, async () => onFrames(taken))
    else await new Promise<void>((resolve) => frames.onReady(resolve))
  }
}
