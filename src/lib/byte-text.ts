/**
 * A text that is made as UTF-8 in memory which is used again and again. A string of many pieces is copied twice before it is bytes, and
 * leaves more garbage than it has characters.
 */
import { ZERO } from './ascii.ts'

/** Longer texts are measured before they are written; for others room for the longest encoding is made. */
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

  /** Begins anew. */
  clear(): void {
    this.#length = 0
    this.#uses++
  }

  /** Removes what was appended since it had this length. Counts as a new use, since others may have noted where that is. */
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
   * Appends a text of which every character is listed, a byte for each: 1 in `listed`, by code, 0 if not. False: there is another one, and nothing was
   * appended. To hand a short text to Node costs more than to look at its characters here, and these are looked at anyway.
   */
  listed(text: string, listed: Uint8Array): boolean {
    this.#reserve(text.length)
    const memory = this.#memory
    let end = this.#length
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      // Beyond the list it is undefined.
      if (listed[code] !== 1) return false
      memory[end++] = code
    }
    this.#length = end
    return true
  }

  text(text: string): void {
    const bytesMax = text.length * CHARACTER_BYTES_MAX
    this.#reserve(text.length <= SHORT_CHARACTERS ? bytesMax : Buffer.byteLength(text))
    this.#length += this.#memory.write(text, this.#length)
  }

  /** The last digits of a whole number, with leading zeros. */
  digits(value: number, count: number): void {
    this.#reserve(count)
    let rest = value
    for (let at = this.#length + count - 1; at >= this.#length; at--) {
      this.#memory[at] = ZERO + (rest % 10)
      rest = Math.floor(rest / 10)
    }
    this.#length += count
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#memory.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#memory.length))
    this.#memory.copy(larger, 0, 0, this.#length)
    this.#memory = larger
  }
}
