/**
 * Reads DER values one after the other. Error messages are the same as in Go's encoding/asn1,
 * because clients see them.
 */

export class DerError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DerError'
  }
}

export type DerValue = {
  readonly tag: number
  readonly content: Buffer
  /** The encoded value, with its tag and length. */
  readonly whole: Buffer
}

const SEQUENCE = 0x30
/**
 * Go's error messages contain the parsing parameters of a struct field. This is how Go prints them
 * for a field without an `asn1` tag.
 */
const plainParameters =
  '{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}'

export class DerReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  any(): DerValue {
    const start = this.#at
    const tag = this.#byte()
    const length = this.#length()
    const end = this.#at + length
    if (end > this.#bytes.length) throw new DerError('asn1: syntax error: data truncated')
    const content = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return { tag, content, whole: this.#bytes.subarray(start, end) }
  }

  /** Reads a value with this tag. `type` is the name of the expected type in Go. */
  expect(tag: number, type: string): DerValue {
    const start = this.#at
    const value = this.any()
    if (value.tag === tag) return value
    const { content, whole } = value
    const found = `{class:${value.tag >> 6} tag:${value.tag & 0x1f} length:${content.length} isCompound:${(value.tag & 0x20) !== 0}}`
    const offset = start + whole.length - content.length
    const why = `tags don't match (${tag & 0x1f} vs ${found}) ${plainParameters} ${type} @${offset}`
    throw new DerError(`asn1: structure error: ${why}`)
  }

  sequence(type: string): DerReader {
    return new DerReader(this.expect(SEQUENCE, type).content)
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw new DerError('asn1: syntax error: truncated tag or length')
    return byte
  }

  #length(): number {
    const first = this.#byte()
    if (first < 0x80) return first
    let length = 0
    for (let left = first & 0x7f; left > 0; left--) length = length * 256 + this.#byte()
    return length
  }
}
