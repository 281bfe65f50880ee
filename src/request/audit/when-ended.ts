/**
 * Observes the end of responses that continue after their headers are sent: watches, streams,
 * tunnels, and bodies from other servers.
 */
import { followFrames } from '../../api/follow-frames.ts'
import type { ApiRequest, ApiResponse, LazyBody } from '../../api/request.ts'

/**
 * Calls `onEnd` once, when the response ends or its client disconnects. `isCut` means that the
 * response was relayed from another server and is incomplete, regardless of which side ended it.
 */
export function whenEnded(
  response: ApiResponse,
  { signal }: Pick<ApiRequest, 'signal'>,
  onEnd: (isCut: boolean) => void,
): ApiResponse {
  const isRelayed = 'frames' in response ? response.isRelayed === true : 'body' in response
  let isOpen = true
  const end = (isWhole = true): void => {
    if (!isOpen) return
    isOpen = false
    onEnd(isRelayed && !isWhole)
  }
  if ('body' in response) {
    const { body } = response
    return 'chunks' in body ? { ...response, body: followBody(body, end) } : response
  }
  if ('frames' in response) return { ...response, frames: followFrames(response.frames, end) }
  if ('stream' in response) {
    // If the client disconnects before the response begins, the stream is never read. Therefore,
    // observe the signal of the request as well.
    signal.addEventListener('abort', () => end(), { once: true })
    if (signal.aborted) end()
    return { ...response, stream: followStream(response.stream, end) }
  }
  const { tunnel } = response
  return {
    ...response,
    tunnel: (connection) => {
      connection.once('close', () => end())
      tunnel(connection)
    },
  }
}

const followBody = (body: LazyBody, end: (isWhole: boolean) => void): LazyBody => ({
  ...body,
  chunks: followChunks(body.chunks, end),
  close: () => {
    end(false)
    body.close?.()
  },
})

async function* followChunks(
  chunks: LazyBody['chunks'],
  end: (isWhole: boolean) => void,
): AsyncGenerator<readonly Buffer[], void, void> {
  let isWhole = false
  try {
    yield* chunks
    isWhole = true
  } finally {
    end(isWhole)
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
