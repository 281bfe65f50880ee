/**
 * Cuts what is to be sent into pieces that a socket is given one after the other. What TLS is given it encrypts at once, into memory
 * of its own: a client that reads slowly should hold one piece of that, and of the rest nothing but the parts, which others share.
 */
export const PIECE_BYTES = 64 * 1024

/** Small parts are joined, long ones cut. */
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
