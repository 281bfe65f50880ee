/** Observes the end of responses that are not whole when they begin: watches, streams and tunnels. */
import { followFrames } from '../api/follow-frames.ts'
import type { ApiRequest, ApiResponse } from '../api/request.ts'

/** Calls `onEnd` once: when the response ends, or when its client has gone. */
export function whenEnded(
  response: Exclude<ApiResponse, { body: unknown }>,
  { signal }: Pick<ApiRequest, 'signal'>,
  onEnd: () => void,
): ApiResponse {
  let isOpen = true
  const end = (): void => {
    if (!isOpen) return
    isOpen = false
    onEnd()
  }
  if ('frames' in response) return { ...response, frames: followFrames(response.frames, end) }
  if ('stream' in response) {
    // The stream is not read at all if its client has gone before it begins.
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    return { ...response, stream: followStream(response.stream, end) }
  }
  const { tunnel } = response
  return {
    ...response,
    tunnel: (connection) => {
      connection.once('close', end)
      tunnel(connection)
    },
  }
}

async function* followStream(
  stream: AsyncIterable<readonly Buffer[]>,
  end: () => void,
): AsyncGenerator<readonly Buffer[], void, void> {
  try {
    yield* stream
  } finally {
    end()
  }
}
