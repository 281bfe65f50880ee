/** Numbers out of a range that are taken, as one number with a bit for each: cheap to copy, and the form in which it is stored. */
export type NumberRange = {
  readonly first: number
  readonly last: number
  /** So many low ones are left to clients that name them; absent: a share of the range. */
  readonly named?: number
}

/** Numbers that clients name are often low ones: those that the server chooses come from above, while there are any. */
const NAMED_SHARE = 32
const NAMED_MIN = 16
const NAMED_MAX = 128

/** Why a port cannot be had, in upstream's words. */
export class PortError extends Error {
  override readonly name = 'PortError'
}

export class NumberSet {
  readonly #range: NumberRange
  readonly #random: () => number
  #bits: bigint

  /** `random` gives numbers from 0 to below 1. */
  constructor(range: NumberRange, bits: bigint, random: () => number) {
    this.#range = range
    this.#bits = bits
    this.#random = random
  }

  get bits(): bigint {
    return this.#bits
  }

  /** Whether it is one of the range. */
  includes(number: number): boolean {
    return number >= this.#range.first && number <= this.#range.last
  }

  has(number: number): boolean {
    return ((this.#bits >> BigInt(number - this.#range.first)) & 1n) === 1n
  }

  /** Those that are taken. */
  list(): number[] {
    const { first } = this.#range
    const taken: number[] = []
    const bytes = bytesOf(this.#bits)
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[bytes.length - 1 - at] ?? 0
      for (let bit = 0; byte >> bit > 0; bit++) if (((byte >> bit) & 1) === 1) taken.push(first + 8 * at + bit)
    }
    return taken
  }

  /** These are taken and no others. Many at once: each `add` copies the whole set, which may have a million numbers. */
  reset(numbers: Iterable<number>): void {
    const { first, last } = this.#range
    const bytes = Buffer.alloc(Math.ceil((last - first + 1) / 8))
    for (const number of numbers) {
      if (!this.includes(number)) continue
      const at = number - first
      const byte = bytes.length - 1 - (at >> 3)
      bytes[byte] = (bytes[byte] ?? 0) | (1 << (at & 7))
    }
    this.#bits = bitsOf(bytes)
  }

  /** A port that somebody wants. Fails with a PortError. */
  take(port: number): void {
    const { first, last } = this.#range
    if (!this.includes(port)) {
      throw new PortError(`provided port is not in the valid range. The range of valid ports is ${first}-${last}`)
    }
    if (this.has(port)) throw new PortError('provided port is already allocated')
    this.add(port)
  }

  /** Any free port. Fails with a PortError. */
  takeAny(): number {
    const { first, last } = this.#range
    const size = last - first + 1
    const share = size <= NAMED_MIN ? 0 : Math.min(Math.max(NAMED_MIN, Math.floor(size / NAMED_SHARE)), NAMED_MAX)
    const named = this.#range.named ?? share
    const port = this.#free(first + named, last) ?? this.#free(first, first + named - 1)
    if (port === undefined) throw new PortError('range is full')
    this.add(port)
    return port
  }

  /** Whoever has it. */
  add(number: number): void {
    if (this.includes(number)) this.#bits |= 1n << BigInt(number - this.#range.first)
  }

  release(number: number): void {
    if (this.includes(number)) this.#bits &= ~(1n << BigInt(number - this.#range.first))
  }

  /** From a random place on, once around. */
  #free(first: number, last: number): number | undefined {
    const size = last - first + 1
    if (size <= 0) return undefined
    const start = Math.floor(this.#random() * size)
    const bytes = bytesOf(this.#bits)
    for (let step = 0; step < size; step++) {
      const port = first + ((start + step) % size)
      const at = port - this.#range.first
      if ((((bytes[bytes.length - 1 - (at >> 3)] ?? 0) >> (at & 7)) & 1) === 0) return port
    }
    return undefined
  }
}

/** Highest first, without zeros before them. */
export function bytesOf(bits: bigint): Buffer {
  if (bits === 0n) return Buffer.alloc(0)
  const hex = bits.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

export function bitsOf(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`)
}
