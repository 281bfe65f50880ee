/** Splits a body of many small parts into chunks that can be written to a socket efficiently. */
import type { LazyBody } from '../../../api/request.ts'

/**
 * Size of the buffer into which parts are copied. Writing many small buffers costs several times as
 * much as copying them. The buffer is reused when the socket has accepted its content. Therefore it
 * stays in the CPU cache, and sending a cached list needs no other memory.
 */
export const CHUNK_BYTES: number = 64 * 1024

/**
 * Returns a body with the parts, which are generated as the client reads. `length` is their total
 * length.
 */
export function inChunks(length: number, parts: () => Iterable<Buffer>): Buffer | LazyBody {
  if (length <= CHUNK_BYTES) return Buffer.concat([...parts()], length)
  return { length, chunks: chunksOf(parts()) }
}

function* chunksOf(parts: Iterable<Buffer>): Generator<readonly Buffer[], void, void> {
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let used = 0
  for (const part of parts) {
    if (used + part.length > CHUNK_BYTES) {
      if (used > 0) yield [chunk.subarray(0, used)]
      used = 0
    }
    if (part.length > CHUNK_BYTES) yield [part]
    else used += part.copy(chunk, used)
  }
  if (used > 0) yield [chunk.subarray(0, used)]
}
