/**
 * The text of an expression, and the error messages about it. As in cel-go, positions count code
 * points, and a message shows the line and marks the position below it.
 */

export type Fault = { readonly offset: number; readonly message: string }

/** Offset of an error that concerns the whole expression. */
export const NOWHERE = -1

/** Maximum number of errors in a message. Longer messages would not be useful. */
const FAULTS_SHOWN_MAX = 100

/**
 * Maximum length of a line that a message shows, as in cel-go. Without the limit, many errors could
 * each repeat a long line.
 */
const LINE_BYTES_MAX = 16_384

export class Source {
  readonly text: string
  readonly points: readonly string[]
  readonly #lineStarts: readonly number[]
  /**
   * Lines of the text, by line number. They are cached, because many errors can be in the same long
   * line.
   */
  readonly #lines = new Map<number, Line>()

  constructor(text: string) {
    this.text = text
    this.points = Array.from(text)
    this.#lineStarts = [0, ...this.points.flatMap((point, at) => (point === '\n' ? [at + 1] : []))]
  }

  slice(from: number, to: number): string {
    return this.points.slice(from, to).join('')
  }

  /** Joins the messages of all errors, sorted by position. */
  describe(faults: readonly Fault[]): string {
    const sorted = [...faults].sort((one, other) => one.offset - other.offset)
    const shown = sorted.slice(0, FAULTS_SHOWN_MAX).map((fault) => this.#describeOne(fault))
    const more = sorted.length - shown.length
    return more > 0
      ? `${shown.join('\n')}\n... ${more} more errors were truncated`
      : shown.join('\n')
  }

  #describeOne({ offset, message }: Fault): string {
    if (offset === NOWHERE) return `ERROR: <input>:-1:0: ${message}`
    // There is no line to show, because the text is empty.
    if (this.points.length === 0) return `ERROR: <input>:1:0: ${message}`
    const line = Math.max(
      0,
      this.#lineStarts.findLastIndex((start) => start <= offset),
    )
    const start = this.#lineStarts[line] ?? 0
    const column = offset - start
    const reported = `ERROR: <input>:${line + 1}:${column + 1}: ${message}`
    const { text, dots } = this.#lines.get(line) ?? this.#readLine(line, start)
    if (Buffer.byteLength(text) > LINE_BYTES_MAX) return reported
    const mark = wide(this.points[offset]) ? '＾' : '^'
    return `${reported}\n | ${text}\n | ${dots.slice(0, column)}${mark}`
  }

  #readLine(line: number, start: number): Line {
    const end = this.#lineStarts[line + 1]
    const points = this.points.slice(start, end === undefined ? undefined : end - 1)
    const read = { text: points.join('').replaceAll('\t', ' '), dots: points.map(markFor).join('') }
    this.#lines.set(line, read)
    return read
  }
}

/** A line of the text. `dots` has a dot for each code point, to mark a position below the line. */
type Line = { readonly text: string; readonly dots: string }

/**
 * Returns a dot with the same width as the character, so that the marks are exactly below the text.
 */
const markFor = (point: string): string => (wide(point) ? '．' : '.')

const wide = (point: string | undefined): boolean =>
  point !== undefined && (point.codePointAt(0) ?? 0) > 0x7f
