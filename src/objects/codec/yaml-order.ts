/**
 * Compares keys in the natural order in which YAML is printed: sequences of digits are compared as
 * numbers, and letters come after all other characters. A map can have thousands of keys, so the
 * comparison is fast: it works on code points, up to the first difference.
 */
import type { Steps } from '../../lib/scheduling/slices.ts'

const letter = /^\p{L}$/u
const digit = /^\p{Nd}$/u

const ASCII_END = 0x80
const ZERO = 0x30
const NINE = 0x39
/** Maximum number of digits with which a number is exact. */
const EXACT_DIGITS = 15
/** The code point that a text is considered to have after its end. */
const NONE = -1

export function compareNatural(a: string, b: string): number {
  const at = differenceOf(a, b)
  const left = codeAt(a, at)
  const right = codeAt(b, at)
  if (left === NONE || right === NONE) return a.length - b.length
  const isLeftLetter = isLetter(left)
  const isRightLetter = isLetter(right)
  if (isLeftLetter && isRightLetter) return left - right
  if (isLeftLetter || isRightLetter) return isLeftLetter ? 1 : -1
  // A zero at the start of a number does not change its value: `01` is equal to `1`. A later zero
  // does: `10` comes after `1`.
  const start = (left === ZERO || right === ZERO) && followsNonZero(a, at) ? 1 : 0
  return compareNumbers(a, b, at, start) || left - right
}

/** Returns the position of the first code point at which the two texts differ. */
function differenceOf(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at > 0 && (codeAt(a, at - 1) > UNIT_MAX || codeAt(b, at - 1) > UNIT_MAX) ? at - 1 : at
}

/** Largest code point that consists of one code unit. */
const UNIT_MAX = 0xffff

const codeAt = (text: string, at: number): number => text.codePointAt(at) ?? NONE
const isLetter = (code: number): boolean =>
  code < ASCII_END
    ? (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
    : letter.test(String.fromCodePoint(code))
const isDigit = (code: number): boolean =>
  code < ASCII_END ? code >= ZERO && code <= NINE : digit.test(String.fromCodePoint(code))

/**
 * Compares the two numbers that begin at `at`. As in Go, compares their values in 64 bits first,
 * and then their lengths.
 */
function compareNumbers(a: string, b: string, at: number, start: number): number {
  const endOfA = digitsEnd(a, at)
  const endOfB = digitsEnd(b, at)
  const left = numberIn(a, at, endOfA, start)
  const right = numberIn(b, at, endOfB, start)
  if (left !== right) return left < right ? -1 : 1
  return codePoints(a, at, endOfA) - codePoints(b, at, endOfB)
}

function digitsEnd(text: string, from: number): number {
  let at = from
  for (let code = codeAt(text, at); isDigit(code); code = codeAt(text, at))
    at += code > UNIT_MAX ? 2 : 1
  return at
}

function numberIn(text: string, from: number, to: number, start: number): number | bigint {
  if (to - from > EXACT_DIGITS) return longNumberIn(text, from, to, start)
  let value = start
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    if (code >= ASCII_END) return longNumberIn(text, from, to, start)
    value = value * 10 + code - ZERO
  }
  return value
}

/**
 * Only this number of UTF-16 code units at the end of a number affects its value in 64 bits. Digits
 * before them only add multiples of 2^64. A digit has up to two code units.
 */
const WRAPPED_UNITS = 128

/**
 * Returns the value of a long number. It is a bigint only if a JavaScript number would be inexact.
 * Otherwise it can be compared with the numbers that `numberIn` returns.
 */
function longNumberIn(text: string, from: number, to: number, start: number): number | bigint {
  let value = BigInt(start)
  for (const character of text.slice(Math.max(from, to - WRAPPED_UNITS), to)) {
    value = BigInt.asIntN(64, value * 10n + BigInt((character.codePointAt(0) ?? 0) - ZERO))
  }
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

const codePoints = (text: string, from: number, to: number): number => {
  let count = 0
  for (let at = from; at < to; at += codeAt(text, at) > UNIT_MAX ? 2 : 1) count++
  return count
}

function followsNonZero(text: string, from: number): boolean {
  for (let at = from; at > 0; ) {
    const pair = at > 1 ? codeAt(text, at - 2) : NONE
    const code = pair > UNIT_MAX ? pair : text.charCodeAt(at - 1)
    if (!isDigit(code)) return false
    if (code !== ZERO) return true
    at--
  }
  return false
}

/**
 * Sorts keys in natural order. Yields if there are many keys. The order is not transitive: `2`
 * comes before `120`, `120` before `1a`, and `1a` before `2`. The result for such keys depends on
 * the sorting algorithm. In kube-apiserver, it can differ between two responses.
 */
export function* sortNatural(keys: readonly string[]): Steps<readonly string[]> {
  let runs: string[][] = []
  for (let at = 0; at < keys.length; at += RUN_KEYS) {
    runs.push(keys.slice(at, at + RUN_KEYS).sort(compareNatural))
    if (keys.length > RUN_KEYS) yield
  }
  while (runs.length > 1) {
    const merged: string[][] = []
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* merge(runs[at] ?? [], runs[at + 1] ?? []))
    runs = merged
  }
  return runs[0] ?? []
}

/** Maximum number of keys that are sorted without interruption. */
const RUN_KEYS = 256

function* merge(left: readonly string[], right: readonly string[]): Steps<string[]> {
  const merged: string[] = []
  let at = 0
  for (const key of left) {
    for (
      let other = right[at];
      other !== undefined && compareNatural(other, key) < 0;
      other = right[++at]
    ) {
      merged.push(other)
      if (merged.length % RUN_KEYS === 0) yield
    }
    merged.push(key)
    if (merged.length % RUN_KEYS === 0) yield
  }
  for (; at < right.length; at++) merged.push(right[at] ?? '')
  return merged
}
