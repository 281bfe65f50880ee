/**
 * A text that is built as UTF-8 in reusable memory. If the text were concatenated as a JavaScript
 * string instead, its conversion to bytes would copy it twice and leave much garbage.
 */
import { ZERO } from './ascii.ts'

/**
 * Maximum length of strings that are written without first computing their encoded length. The
 * longest possible encoding of such a string is assumed when memory is allocated.
 */
const SHORT_CHARACTERS = 1024
/** Maximum number of UTF-8 bytes for one UTF-16 code unit. */
const CHARACTER_BYTES_MAX = 3

export class ByteText {
  #memory: Buffer
  #length = 0
  #uses = 0

  constructor(bytes: number) {
    this.#memory = Buffer.allocUnsafeSlow(bytes)
  }

  get memory(): Buffer {
    return this.#memory
  }

  get length(): number {
    return this.#length
  }

  /**
   * Number of times that the text was cleared or truncated. When this number changes, positions in
   * the text that callers have recorded become invalid.
   */
  get uses(): number {
    return this.#uses
  }

  /** The bytes of the text. Valid until another method is called. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length)
  }

  /** Returns a copy of the bytes, beginning at `start`. */
  copyOf(start: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.#length - start)
    this.#memory.copy(bytes, 0, start, this.#length)
    return bytes
  }

  /** Empties the text. The memory is reused. */
  clear(): void {
    this.#length = 0
    this.#uses++
  }

  /**
   * Truncates the text to this length. Increases `uses`, which makes positions beyond this length
   * invalid that callers may have recorded.
   */
  cut(length: number): void {
    this.#length = length
    this.#uses++
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#memory.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** Appends the bytes of `from` between two positions. `from` may be this text itself. */
  copy(from: ByteText, start: number, end: number): void {
    this.#reserve(end - start)
    // Within one buffer, `copyWithin` is faster than Node's `copy`.
    if (from === this) this.#memory.copyWithin(this.#length, start, end)
    else from.#memory.copy(this.#memory, this.#length, start, end)
    this.#length += end - start
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#memory[this.#length++] = value
  }

  /**
   * Appends a string if all of its characters are allowed. Otherwise returns false and appends
   * nothing. `listed` has the value 1 at the index of each allowed character code. Checks the
   * encoded bytes, because this is faster than checking the characters of a string.
   */
  listed(text: string, listed: Uint8Array): boolean {
    this.#reserve(text.length * CHARACTER_BYTES_MAX)
    const memory = this.#memory
    const start = this.#length
    const end = start + memory.write(text, start)
    if (end - start !== text.length) return false
    // Character codes beyond the end of `listed` are not allowed.
    for (let at = start; at < end; at++) if (listed[memory[at] ?? 0] !== 1) return false
    this.#length = end
    return true
  }

  text(text: string): void {
    const bytesMax = text.length * CHARACTER_BYTES_MAX
    this.#reserve(text.length <= SHORT_CHARACTERS ? bytesMax : Buffer.byteLength(text))
    this.#length += this.#memory.write(text, this.#length)
  }

  /** Appends the last `count` digits of a whole number below 2 ** 31, with leading zeros. */
  digits(value: number, count: number): void {
    this.#reserve(count)
    const memory = this.#memory
    const start = this.#length
    // V8 is several times faster with 32-bit integers than with other numbers.
    let rest = value | 0
    for (let at = start + count - 1; at >= start; at--) {
      const tens = (rest / 10) | 0
      memory[at] = ZERO + rest - tens * 10
      rest = tens
    }
    this.#length = start + count
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#memory.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#memory.length))
    this.#memory.copy(larger, 0, 0, this.#length)
    this.#memory = larger
  }
}
