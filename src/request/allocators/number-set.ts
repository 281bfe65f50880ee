/** A set of allocated numbers in a range. It is a bitmap, which is stored without conversion. */
export type NumberRange = {
  readonly first: number
  readonly last: number
  /**
   * Number of low numbers that are reserved for clients that request a specific number. If absent,
   * it is derived from the size of the range.
   */
  readonly named?: number
}

/**
 * Number of low numbers of a range that are reserved for clients: the size of the range divided by
 * `of`, but at most `max`.
 */
type NamedShare = { readonly of: number; readonly max: number }

const NAMED_MIN = 16
const namedPorts: NamedShare = { of: 32, max: 128 }

/**
 * Returns the number of low numbers that are reserved for clients, which often request low numbers.
 * The server chooses numbers above them as long as any of those are free.
 */
export const namedOf = (size: number, share: NamedShare): number =>
  size <= NAMED_MIN ? 0 : Math.min(Math.max(NAMED_MIN, Math.floor(size / share.of)), share.max)

/** Thrown if a port cannot be allocated. The message is the same as in kube-apiserver. */
export class PortError extends Error {
  override readonly name = 'PortError'
}

export class NumberSet {
  readonly #range: NumberRange
  readonly #random: () => number
  /**
   * Bitmap in the stored form: the lowest number is the lowest bit of the last byte. It is changed
   * in place, because a copy can take 128 KB.
   */
  readonly #bytes: Buffer
  /** Buffer for the previous state, which `attempt` restores if the change throws. */
  #spare: Buffer | undefined

  /**
   * Creates a set. `stored` is the result of an earlier call of `stored()`; numbers beyond the
   * range are dropped. `random` returns random numbers in the range [0, 1).
   */
  constructor(range: NumberRange, stored: Buffer, random: () => number) {
    this.#range = range
    this.#random = random
    const size = range.last - range.first + 1
    const length = Math.ceil(size / 8)
    this.#bytes = Buffer.alloc(length)
    const kept = stored.subarray(Math.max(0, stored.length - length))
    kept.copy(this.#bytes, length - kept.length)
    const unused = 8 * length - size
    this.#bytes[0] = (this.#bytes[0] ?? 0) & (0xff >> unused)
  }

  /**
   * Returns a copy of the bitmap. The highest numbers come first, and leading zero bytes are left
   * out.
   */
  stored(): Buffer {
    const start = this.#bytes.findIndex((byte) => byte !== 0)
    return start < 0 ? Buffer.alloc(0) : Buffer.from(this.#bytes.subarray(start))
  }

  /** Applies a change. If `change` throws an error, the set is left unchanged. */
  attempt<T>(change: (set: NumberSet) => T): T {
    const before = (this.#spare ??= Buffer.alloc(this.#bytes.length))
    this.#bytes.copy(before)
    try {
      return change(this)
    } catch (error) {
      before.copy(this.#bytes)
      throw error
    }
  }

  /** Whether the number is in the range. */
  includes(number: number): boolean {
    return number >= this.#range.first && number <= this.#range.last
  }

  has(number: number): boolean {
    return this.includes(number) && this.#isSet(number - this.#range.first)
  }

  /** Returns all allocated numbers. */
  list(): number[] {
    const { first } = this.#range
    const taken: number[] = []
    const bytes = this.#bytes
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[bytes.length - 1 - at] ?? 0
      for (let bit = 0; byte >> bit > 0; bit++)
        if (((byte >> bit) & 1) === 1) taken.push(first + 8 * at + bit)
    }
    return taken
  }

  /** Replaces the set with these numbers. */
  reset(numbers: Iterable<number>): void {
    this.#bytes.fill(0)
    for (const number of numbers) this.add(number)
  }

  /** Allocates the given port. Fails with a PortError if that is not possible. */
  take(port: number): void {
    const { first, last } = this.#range
    if (!this.includes(port)) {
      throw new PortError(
        `provided port is not in the valid range. The range of valid ports is ${first}-${last}`,
      )
    }
    if (this.has(port)) throw new PortError('provided port is already allocated')
    this.add(port)
  }

  /** Allocates any free port. Fails with a PortError if no port is free. */
  takeAny(): number {
    const { first, last } = this.#range
    const named = this.#range.named ?? namedOf(last - first + 1, namedPorts)
    const port = this.#free(first + named, last) ?? this.#free(first, first + named - 1)
    if (port === undefined) throw new PortError('range is full')
    this.add(port)
    return port
  }

  /** Adds the number, even if it is already in the set. */
  add(number: number): void {
    if (!this.includes(number)) return
    const { byte, mask } = this.#place(number - this.#range.first)
    this.#bytes[byte] = (this.#bytes[byte] ?? 0) | mask
  }

  release(number: number): void {
    if (!this.includes(number)) return
    const { byte, mask } = this.#place(number - this.#range.first)
    this.#bytes[byte] = (this.#bytes[byte] ?? 0) & ~mask
  }

  /** Returns a free number. The search begins at a random number and wraps around. */
  #free(first: number, last: number): number | undefined {
    const size = last - first + 1
    if (size <= 0) return undefined
    const start = first + Math.floor(this.#random() * size)
    return this.#firstFree(start, last) ?? this.#firstFree(first, start - 1)
  }

  #firstFree(first: number, last: number): number | undefined {
    const end = last - this.#range.first
    for (let at = first - this.#range.first; at <= end; at++) {
      // Skip eight allocated numbers at a time, because a range can have a million numbers.
      while ((at & 7) === 0 && at <= end && this.#bytes[this.#place(at).byte] === 0xff) at += 8
      if (at <= end && !this.#isSet(at)) return this.#range.first + at
    }
    return undefined
  }

  #isSet(at: number): boolean {
    const { byte, mask } = this.#place(at)
    return ((this.#bytes[byte] ?? 0) & mask) !== 0
  }

  #place(at: number): { readonly byte: number; readonly mask: number } {
    return { byte: this.#bytes.length - 1 - (at >> 3), mask: 1 << (at & 7) }
  }
}

/**
 * Converts a stored set to the stored form of a set for `range`. `from` is the lowest number that
 * the stored set can contain.
 */
export function adopted(stored: Buffer, from: number, range: NumberRange): Buffer {
  const was = new NumberSet(
    { first: from, last: from + 8 * stored.length - 1 },
    stored,
    Math.random,
  )
  const now = new NumberSet(range, Buffer.alloc(0), Math.random)
  now.reset(was.list())
  return now.stored()
}
