/**
 * A text that is made as UTF-8 in memory which is used again and again. A string of many pieces is
 * copied twice before it is bytes, and leaves more garbage than it has characters.
 */
import { ZERO } from './ascii.ts'

/**
 * Longer texts are measured before they are written; for others room for the longest encoding is
 * made.
 */
const SHORT_CHARACTERS = 1024
/** A character of a string has at most this many in UTF-8. */
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

  /** How often it was begun anew. What was appended before is gone when this has changed. */
  get uses(): number {
    return this.#uses
  }

  /** What was appended. Valid until anything else is called. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length)
  }

  /** What was appended since it had this length, in memory of its own. */
  copyOf(start: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.#length - start)
    this.#memory.copy(bytes, 0, start, this.#length)
    return bytes
  }

  /** Begins anew. */
  clear(): void {
    this.#length = 0
    this.#uses++
  }

  /**
   * Removes what was appended since it had this length. Counts as a new use, since others may have
   * noted where that is.
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

  /** A part of a text, perhaps of this one. */
  copy(from: ByteText, start: number, end: number): void {
    this.#reserve(end - start)
    // Node's own `copy` costs some three times as much.
    if (from === this) this.#memory.copyWithin(this.#length, start, end)
    else from.#memory.copy(this.#memory, this.#length, start, end)
    this.#length += end - start
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#memory[this.#length++] = value
  }

  /**
   * Appends a text of which every character is listed, a byte for each: 1 in `listed`, by code, 0
   * if not. False: there is another one, and nothing was appended. Bytes are looked at, once they
   * are there, in a third of the time that the characters of a string take.
   */
  listed(text: string, listed: Uint8Array): boolean {
    this.#reserve(text.length * CHARACTER_BYTES_MAX)
    const memory = this.#memory
    const start = this.#length
    const end = start + memory.write(text, start)
    if (end - start !== text.length) return false
    // Beyond the list it is undefined.
    for (let at = start; at < end; at++) if (listed[memory[at] ?? 0] !== 1) return false
    this.#length = end
    return true
  }

  text(text: string): void {
    const bytesMax = text.length * CHARACTER_BYTES_MAX
    this.#reserve(text.length <= SHORT_CHARACTERS ? bytesMax : Buffer.byteLength(text))
    this.#length += this.#memory.write(text, this.#length)
  }

  /** The last digits of a whole number below 2 ** 31, with leading zeros. */
  digits(value: number, count: number): void {
    this.#reserve(count)
    const memory = this.#memory
    const start = this.#length
    // As integers of 32 bits: with others the same takes several times as long.
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
