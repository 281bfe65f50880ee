/** Cuts the JSON of a watch, which comes in pieces, into lines: each is an event. */
import { GrowingBuffer } from '../../lib/bytes/growing-buffer.ts'

const LINE_FEED = 0x0a
/** An event with its object; those of upstream have 1.5 MB at the most. */
const LINE_BYTES_MAX = 4 << 20

export class WatchLines {
  /** What has come of a line. */
  readonly #begun = new GrowingBuffer()

  /** The lines that have ended. The memory of the pieces may be reused. */
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
      // The first piece would be kept as it is.
      this.#begun.append(this.#begun.length === 0 ? Buffer.from(rest) : rest)
    }
    return lines
  }
}
