/** Lets bytes through at a rate, so that one stream does not take all of a network. */
import { Transform } from 'node:stream'

/**
 * How many pieces a second's bytes come in: often enough to look steady, seldom enough to cost
 * nothing.
 */
const PIECES_PER_SECOND = 10

/** The first piece passes at once, each further one when the time of those before is over. */
export function throttle(bytesPerSecond: number): Transform {
  const pieceBytes = Math.max(1, Math.floor(bytesPerSecond / PIECES_PER_SECOND))
  let freeMs = 0
  let timer: NodeJS.Timeout | undefined
  return new Transform({
    // No more is taken from the other end than will pass soon.
    highWaterMark: pieceBytes,
    transform(chunk: Buffer, _encoding, done) {
      const next = (at: number): void => {
        if (at >= chunk.length) return done()
        const waitMs = freeMs - performance.now()
        if (waitMs > 0) {
          timer = setTimeout(next, waitMs, at)
          return
        }
        const piece = chunk.subarray(at, at + pieceBytes)
        freeMs = performance.now() + (1000 * piece.length) / bytesPerSecond
        this.push(piece)
        next(at + piece.length)
      }
      next(0)
    },
    destroy(error, done) {
      clearTimeout(timer)
      done(error)
    },
  })
}
