/** Encodes the DER types (X.690) that certificates need. Each function encodes one type. */

export function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  const hex = length.toString(16)
  const lengthBytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | lengthBytes.length]), lengthBytes, content])
}

export const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts))
export const set = (...parts: readonly Buffer[]): Buffer => der(0x31, Buffer.concat(parts))
export const context = (number: number, part: Buffer): Buffer => der(0xa0 | number, part)
export const octets = (content: Buffer): Buffer => der(0x04, content)
export const bits = (content: Buffer): Buffer =>
  der(0x03, Buffer.concat([Buffer.from([0]), content]))
export const text = (content: string): Buffer => der(0x0c, Buffer.from(content))
/** Encodes a PrintableString. The text must contain only characters that this type allows. */
export const printable = (content: string): Buffer => der(0x13, Buffer.from(content, 'latin1'))
export const yes = der(0x01, Buffer.from([0xff]))

/**
 * Encodes a positive integer without leading zeros. Forces the first byte to a value between 1 and
 * 127, so use it only for random serial numbers.
 */
export function integer(content: Buffer): Buffer {
  const first = (content[0] ?? 0) & 0x7f
  return der(0x02, Buffer.concat([Buffer.from([first === 0 ? 1 : first]), content.subarray(1)]))
}

/**
 * Encodes a time. Until 2049 it is a UTCTime, whose year has two digits (RFC 5280, section
 * 4.1.2.5).
 */
export function time(date: Date): Buffer {
  const digits = `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`
  return date.getUTCFullYear() < 2050
    ? der(0x17, Buffer.from(digits.slice(2)))
    : der(0x18, Buffer.from(digits))
}

export function objectId(numbers: readonly number[]): Buffer {
  const [first = 0, second = 0, ...rest] = numbers
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const digits = [value & 0x7f]
  for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80)
  return digits
}

export function pem(label: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
