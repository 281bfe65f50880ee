/**
 * Splits a body of many small parts into chunks of a size that is efficient to write to a socket.
 */
import type { LazyBody } from '../../../api/request.ts'

/**
 * Parts are copied into a buffer of this size, which is reused once the socket has taken it and so
 * stays in the CPU cache: writing many small buffers costs several times the copy. A list in flight
 * needs no other memory besides the cache.
 */
export const CHUNK_BYTES: number = 64 * 1024

/** `length`: of all parts together. They are made as the client reads. */
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
