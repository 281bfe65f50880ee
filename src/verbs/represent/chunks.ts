/** A body of many small parts in pieces that a socket likes. */
import type { LazyBody } from '../../api/request.ts'

/**
 * Parts are copied into a buffer of this size, which is used again once the socket has taken it and so stays in the
 * processor's cache: a write of many small buffers costs several times the copy. It is all that a list in flight holds
 * beside the cache.
 */
export const CHUNK_BYTES: number = 64 * 1024

/** `length` is that of all parts together. They are asked for as the client reads. */
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
