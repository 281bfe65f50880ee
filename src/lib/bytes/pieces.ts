/**
 * Cuts a body into pieces that are written to a socket one after the other. TLS encrypts each write
 * into newly allocated memory. With pieces, a slow client needs memory for only one encrypted
 * piece. The rest of the body stays in its original buffers, which the responses to several clients
 * can share.
 */
export const PIECE_BYTES = 64 * 1024

/**
 * Yields the bytes of all parts of a body, in pieces of PIECE_BYTES. The last piece can be shorter.
 * Short parts are joined, and long parts are cut.
 */
export function* pieces(parts: Iterable<Buffer>): Generator<Buffer, undefined, undefined> {
  let held: Buffer[] = []
  let heldBytes = 0
  for (const part of parts) {
    let from = 0
    while (heldBytes + part.length - from >= PIECE_BYTES) {
      const to = from + PIECE_BYTES - heldBytes
      held.push(part.subarray(from, to))
      yield joined(held)
      held = []
      heldBytes = 0
      from = to
    }
    if (from === part.length) continue
    held.push(from === 0 ? part : part.subarray(from))
    heldBytes += part.length - from
  }
  if (heldBytes > 0) yield joined(held)
}

function joined(held: readonly Buffer[]): Buffer {
  const [only] = held
  return held.length === 1 && only !== undefined ? only : Buffer.concat(held)
}
