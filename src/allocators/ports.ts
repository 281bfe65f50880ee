/** A set of ports out of a range, as one number with a bit for each port: cheap to copy, and the form in which it is stored. */
export type PortRange = { readonly first: number; readonly last: number }

/** Ports that requests name are often low ones: those that the server chooses come from above this share of the range, while there are any. */
const NAMED_SHARE = 32
const NAMED_MIN = 16
const NAMED_MAX = 128

/** Why a port cannot be had, in upstream's words. */
export class PortError extends Error {
  override readonly name = 'PortError'
}

export class Ports {
  readonly #range: PortRange
  readonly #random: () => number
  #bits: bigint

  /** `random` gives numbers from 0 to below 1. */
  constructor(range: PortRange, bits: bigint, random: () => number) {
    this.#range = range
    this.#bits = bits
    this.#random = random
  }

  get bits(): bigint {
    return this.#bits
  }

  /** Whether the port is one of the range. */
  includes(port: number): boolean {
    return port >= this.#range.first && port <= this.#range.last
  }

  /** Those that are taken. */
  list(): number[] {
    const { first, last } = this.#range
    return Array.from({ length: last - first + 1 }, (_, at) => first + at).filter((port) => this.has(port))
  }

  has(port: number): boolean {
    return ((this.#bits >> BigInt(port - this.#range.first)) & 1n) === 1n
  }

  /** Fails with a PortError. */
  take(port: number): void {
    const { first, last } = this.#range
    if (!this.includes(port)) {
      throw new PortError(`provided port is not in the valid range. The range of valid ports is ${first}-${last}`)
    }
    if (this.has(port)) throw new PortError('provided port is already allocated')
    this.#bits |= 1n << BigInt(port - first)
  }

  /** Any free port. Fails with a PortError. */
  takeAny(): number {
    const { first, last } = this.#range
    const size = last - first + 1
    const named = size <= NAMED_MIN ? 0 : Math.min(Math.max(NAMED_MIN, Math.floor(size / NAMED_SHARE)), NAMED_MAX)
    const port = this.#free(first + named, last) ?? this.#free(first, first + named - 1)
    if (port === undefined) throw new PortError('range is full')
    this.take(port)
    return port
  }

  /** Those outside of the range are nobody's. */
  release(port: number): void {
    if (this.includes(port)) this.#bits &= ~(1n << BigInt(port - this.#range.first))
  }

  /** From a random place on, once around. */
  #free(first: number, last: number): number | undefined {
    const size = last - first + 1
    if (size <= 0) return undefined
    const start = Math.floor(this.#random() * size)
    for (let step = 0; step < size; step++) {
      const port = first + ((start + step) % size)
      if (!this.has(port)) return port
    }
    return undefined
  }
}
