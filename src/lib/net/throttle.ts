/** Limits the rate of a stream, so that it does not use the whole bandwidth of the network. */
import { Transform } from 'node:stream'

/**
 * The data that may pass in one second is divided into this number of pieces. Ten pieces make the
 * flow steady at a negligible cost for timers.
 */
const PIECES_PER_SECOND = 10

/**
 * Returns a stream that limits the rate of the data that passes through it. The first piece of data
 * passes immediately; each further piece is delayed as far as the rate requires.
 */
export function throttle(bytesPerSecond: number): Transform {
  const pieceBytes = Math.max(1, Math.floor(bytesPerSecond / PIECES_PER_SECOND))
  let freeMs = 0
  let timer: NodeJS.Timeout | undefined
  return new Transform({
    // Makes the stream request more data from its source only while it buffers less than one piece.
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
