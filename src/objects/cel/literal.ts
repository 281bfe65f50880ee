/**
 * Parses CEL literals, such as numbers and strings. Returns the value, or the reason why the
 * literal is invalid.
 */
import { Uint, type Value } from './values.ts'

export type ReadLiteral = { readonly value: Value } | { readonly fault: string }

const INT_MIN = -(2n ** 63n)
const INT_MAX = 2n ** 63n - 1n
const UINT_MAX = 2n ** 64n - 1n

export function readInt(text: string): ReadLiteral {
  const isNegative = text.startsWith('-')
  const size = BigInt(isNegative ? text.slice(1) : text)
  const value = isNegative ? -size : size
  return value < INT_MIN || value > INT_MAX ? { fault: 'invalid int literal' } : { value }
}

export function readUint(text: string): ReadLiteral {
  const value = BigInt(text.slice(0, -1))
  return value > UINT_MAX ? { fault: 'invalid uint literal' } : { value: new Uint(value) }
}

export function readFloat(text: string): ReadLiteral {
  const value = Number(text)
  return Number.isFinite(value) ? { value } : { fault: 'invalid double literal' }
}

export function readString(text: string): ReadLiteral {
  const { body, isRaw } = strip(text)
  if (isRaw) return { value: body }
  const points: string[] = []
  for (const { code, text: plain } of pieces(body)) {
    if (code === undefined) points.push(plain)
    else if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
      return { fault: 'unable to unescape string' }
    else points.push(String.fromCodePoint(code))
  }
  return { value: points.join('') }
}

export function readBytes(text: string): ReadLiteral {
  const { body, isRaw } = strip(text.slice(1))
  const encoder = new TextEncoder()
  if (isRaw) return { value: encoder.encode(body) }
  const bytes: number[] = []
  for (const piece of pieces(body)) {
    if (piece.code === undefined) for (const byte of encoder.encode(piece.text)) bytes.push(byte)
    else if (piece.isByte) bytes.push(piece.code)
    else return { fault: 'unable to unescape string' }
  }
  return { value: Uint8Array.from(bytes) }
}

function strip(text: string): { body: string; isRaw: boolean } {
  const isRaw = /^[rR]/.test(text)
  const quoted = isRaw ? text.slice(1) : text
  const isTriple = quoted.startsWith('"""') || quoted.startsWith("'''")
  const body = isTriple && quoted.length >= 6 ? quoted.slice(3, -3) : quoted.slice(1, -1)
  return { body: body.replaceAll('\r\n', '\n').replaceAll('\r', '\n'), isRaw }
}

type Piece = { readonly code: number | undefined; readonly isByte: boolean; readonly text: string }

const named: { readonly [letter: string]: number } = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
}
const escapes =
  /\\(?:[xX]([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-3][0-7]{2})|(.))|([^\\]+)/gsu

function* pieces(body: string): Generator<Piece> {
  for (const [, hex, short, long, octal, letter, plain] of body.matchAll(escapes)) {
    if (plain !== undefined) yield { code: undefined, isByte: false, text: plain }
    else if (hex !== undefined) yield { code: Number.parseInt(hex, 16), isByte: true, text: '' }
    else if (octal !== undefined) yield { code: Number.parseInt(octal, 8), isByte: true, text: '' }
    else if (letter !== undefined) {
      const code = named[letter] ?? letter.codePointAt(0)
      yield { code, isByte: true, text: '' }
    } else yield { code: Number.parseInt(short ?? long ?? '', 16), isByte: false, text: '' }
  }
}
