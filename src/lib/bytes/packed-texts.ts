/**
 * An immutable list of strings with a lookup, for lists of hundreds of thousands of short strings.
 * It needs about 20 bytes for a string of 7 characters, outside of the heap. An array and a Set
 * need more than 50 bytes of the heap.
 *
 * The lookup is a hash table with open addressing. Its hash is HalfSipHash-2-4 with a random key,
 * so that clients cannot choose strings with equal hashes.
 */
import { randomBytes } from 'node:crypto'
import type { Steps } from '../scheduling/slices.ts'

/** Number of strings that are packed between two yields. */
const STEP_TEXTS = 256
/** The hash table has at least this number of slots for each string. */
const SLOTS_PER_TEXT = 4 / 3

export class PackedTexts implements Iterable<string> {
  readonly #key = new Uint32Array(new Uint8Array(randomBytes(8)).buffer)
  readonly #bytes: Buffer
  /** For each string, the position in `#bytes` at which it ends. */
  readonly #ends: Uint32Array
  /** The position of a string in the list, plus one. 0 is an empty slot. */
  readonly #slots: Uint32Array

  private constructor(count: number, bytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(bytes)
    this.#ends = new Uint32Array(count)
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(count * SLOTS_PER_TEXT + 1)))
  }

  /**
   * Packs a list. Returns undefined if a string contains a lone surrogate, which has no UTF-8 form.
   */
  static *of(list: readonly string[]): Steps<PackedTexts | undefined> {
    let bytes = 0
    let count = 0
    for (const text of list) {
      if (!text.isWellFormed()) return undefined
      bytes += Buffer.byteLength(text)
      if (++count % STEP_TEXTS === 0) yield
    }
    const packed = new PackedTexts(count, bytes)
    for (const [at, text] of list.entries()) {
      packed.#add(at, text)
      if (at % STEP_TEXTS === 0) yield
    }
    return packed
  }

  get length(): number {
    return this.#ends.length
  }

  has(text: string): boolean {
    if (!text.isWellFormed()) return false
    const bytes = Buffer.from(text)
    return this.#slots[this.#slotOf(bytes)] !== 0
  }

  *[Symbol.iterator](): Generator<string> {
    for (let at = 0; at < this.#ends.length; at++) yield this.#bytesAt(at).toString()
  }

  #add(at: number, text: string): void {
    const start = at === 0 ? 0 : (this.#ends[at - 1] ?? 0)
    this.#ends[at] = start + this.#bytes.write(text, start)
    const slot = this.#slotOf(this.#bytesAt(at))
    if (this.#slots[slot] === 0) this.#slots[slot] = at + 1
  }

  #bytesAt(at: number): Buffer {
    return this.#bytes.subarray(at === 0 ? 0 : this.#ends[at - 1], this.#ends[at])
  }

  /**
   * Returns the slot of a string in the hash table, or an empty slot if the list does not contain
   * the string.
   */
  #slotOf(bytes: Buffer): number {
    const mask = this.#slots.length - 1
    const [k0 = 0, k1 = 0] = this.#key
    for (let slot = halfSipHash(bytes, k0, k1) & mask; ; slot = (slot + 1) & mask) {
      const found = this.#slots[slot] ?? 0
      if (found === 0 || this.#bytesAt(found - 1).equals(bytes)) return slot
    }
  }
}

/** HalfSipHash-2-4 with a result of 32 bits. */
export function halfSipHash(bytes: Buffer, k0: number, k1: number): number {
  let [v0, v1, v2, v3] = [k0, k1, k0 ^ 0x6c796765, k1 ^ 0x74656462] as const
  const round = (): void => {
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
  }
  const { length } = bytes
  const whole = length - (length % 4)
  const add = (word: number): void => {
    v3 ^= word
    round()
    round()
    v0 ^= word
  }
  for (let at = 0; at < whole; at += 4) add(bytes.readInt32LE(at))
  let last = length << 24
  for (let at = whole; at < length; at++) last |= (bytes[at] ?? 0) << (8 * (at - whole))
  add(last)
  v2 ^= 0xff
  for (let rounds = 0; rounds < 4; rounds++) round()
  return (v1 ^ v3) >>> 0
}
