/**
 * Indents JSON without parsing its values, so that the digits of numbers and the order of fields do
 * not change. Indented JSON can be hundreds of times as long if it is deeply nested. Therefore its
 * length can be computed in advance, and it can be written piece by piece.
 */
import {
  BACKSLASH,
  BRACE_CLOSE,
  BRACE_OPEN,
  BRACKET_CLOSE,
  BRACKET_OPEN,
  COLON,
  COMMA,
  NEWLINE,
  QUOTE,
  SPACE,
} from '../../lib/bytes/ascii.ts'

const SPACES_PER_LEVEL = 2
/**
 * Maximum length of a piece that is copied byte by byte. For short pieces, this is faster than
 * Buffer's `copy`.
 */
const SHORT_BYTES = 32

/**
 * Indents JSON that has no whitespace. A newline at the end is dropped, as in kube-apiserver.
 * `startDepth` is the depth at which the value is inserted into a larger document. All lines except
 * the first are indented accordingly.
 */
export class JsonIndenter {
  readonly #json: Buffer
  readonly #end: number
  #depth: number
  /**
   * The position from which the next break is searched. A break is a newline followed by spaces, or
   * a single space.
   */
  #at = 0
  /** Start of the bytes before the next break that are still to be copied. `#to` is their end. */
  #from = 0
  #to = 0
  #hasNewline = false
  #spaces = 0

  constructor(compact: Buffer, startDepth = 0) {
    this.#json = compact
    this.#end = compact.at(-1) === NEWLINE ? compact.length - 1 : compact.length
    this.#depth = startDepth
  }

  /**
   * Writes as many bytes as fit into the target, from `start` on. Returns the position after them,
   * which is the size of the target unless everything is written.
   */
  fill(target: Buffer, start = 0): number {
    let used = start
    for (;;) {
      const copied = Math.min(this.#to - this.#from, target.length - used)
      if (copied <= SHORT_BYTES)
        for (let at = 0; at < copied; at++) target[used + at] = this.#json[this.#from + at] ?? 0
      else this.#json.copy(target, used, this.#from, this.#from + copied)
      this.#from += copied
      used += copied
      if (used === target.length) return used
      if (this.#hasNewline) target[used++] = NEWLINE
      this.#hasNewline = false
      const spaces = Math.min(this.#spaces, target.length - used)
      if (spaces <= SHORT_BYTES) for (let at = 0; at < spaces; at++) target[used + at] = SPACE
      else target.fill(SPACE, used, used + spaces)
      this.#spaces -= spaces
      used += spaces
      if (used === target.length || !this.#next()) return used
    }
  }

  /**
   * Returns the length of the rest of the JSON when it is indented. With `compactBytes`, only about
   * this many bytes of the rest count.
   */
  measure(compactBytes = Infinity): number {
    const until = this.#at + compactBytes
    let bytes = 0
    while (this.#at < until && this.#next())
      bytes += this.#to - this.#from + (this.#hasNewline ? 1 : 0) + this.#spaces
    return bytes
  }

  /**
   * Finds the next position at which a newline or a space must be inserted. Returns false if
   * nothing is left.
   */
  #next(): boolean {
    const json = this.#json
    this.#from = this.#to
    for (let at = this.#at; at < this.#end; at++) {
      const code = json[at]
      if (code === QUOTE) at = endOfString(json, at)
      else if (code === BRACE_OPEN || code === BRACKET_OPEN) {
        const next = json[at + 1]
        if (next === BRACE_CLOSE || next === BRACKET_CLOSE) at++
        else return this.#breakLine(at + 1, at + 1, ++this.#depth)
      } else if (code === BRACE_CLOSE || code === BRACKET_CLOSE)
        return this.#breakLine(at, at + 1, --this.#depth)
      else if (code === COMMA) return this.#breakLine(at + 1, at + 1, this.#depth)
      else if (code === COLON) return this.#break(at + 1, at + 1, 1)
    }
    return this.#break(this.#end, this.#end, 0)
  }

  #breakLine(to: number, next: number, depth: number): boolean {
    this.#break(to, next, depth * SPACES_PER_LEVEL)
    this.#hasNewline = true
    return true
  }

  #break(to: number, next: number, spaces: number): boolean {
    this.#to = to
    this.#at = next
    this.#spaces = spaces
    this.#hasNewline = false
    return to > this.#from
  }
}

/**
 * Indents a whole document in one step. This is for documents of the server itself, which are not
 * deeply nested.
 */
export function indentJson(compact: string, startDepth = 0): string {
  const json = Buffer.from(compact)
  const indented = Buffer.allocUnsafe(new JsonIndenter(json, startDepth).measure())
  new JsonIndenter(json, startDepth).fill(indented)
  return indented.toString()
}

/** Returns the end of the string that begins at `start`. */
function endOfString(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const code = json[at]
    if (code === BACKSLASH) at++
    else if (code === QUOTE) return at
  }
  return json.length
}
