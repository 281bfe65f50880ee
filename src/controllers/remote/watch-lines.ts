/** Splits the JSON of a watch, which arrives in pieces, into lines. Each line is an event. */
import { GrowingBuffer } from '../../lib/bytes/growing-buffer.ts'

const LINE_FEED = 0x0a
/**
 * Maximum size of an event including its object. Events of kube-apiserver are at most 1.5 MB long.
 */
const LINE_BYTES_MAX = 4 << 20

export class WatchLines {
  /** The beginning of an incomplete line. */
  readonly #begun = new GrowingBuffer()

  /**
   * Adds pieces of the stream, and returns the lines that are now complete. The memory of the
   * pieces can be reused afterward.
   */
  add(pieces: readonly Buffer[]): readonly string[] {
    const lines: string[] = []
    for (const piece of pieces) {
      let from = 0
      for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, from)) {
        this.#begun.append(piece.subarray(from, end))
        const line = this.#begun.take().toString()
        from = end + 1
        if (line.trim() !== '') lines.push(line)
      }
      const rest = piece.subarray(from)
      if (this.#begun.length + rest.length > LINE_BYTES_MAX)
        throw new Error(`an event has more than ${LINE_BYTES_MAX} bytes`)
      // Copy the first piece. A GrowingBuffer would retain the piece itself, whose memory the
      // caller can reuse.
      this.#begun.append(this.#begun.length === 0 ? Buffer.from(rest) : rest)
    }
    return lines
  }
}
