/**
 * Sorts keys in the natural order of printed YAML: digits are compared by the number that they
 * form, and letters come after all other characters. A map may have thousands of keys. Two keys are
 * therefore compared in place by their code points, up to the first difference.
 */
import type { Steps } from '../../lib/scheduling/slices.ts'

const letter = /^\p{L}$/u
const digit = /^\p{Nd}$/u

const ASCII_END = 0x80
const ZERO = 0x30
const NINE = 0x39
/** Number of digits up to which a number is exact. */
const EXACT_DIGITS = 15
/** Stands for the code point past the end of a text. */
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
  // A zero counts after another digit: `10` comes after `1`. A leading zero does not: `01` has the
  // value of `1`.
  const start = (left === ZERO || right === ZERO) && followsNonZero(a, at) ? 1 : 0
  return compareNumbers(a, b, at, start) || left - right
}

/** Returns the position of the first code point in which the two texts differ. */
function differenceOf(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at > 0 && (codeAt(a, at - 1) > UNIT_MAX || codeAt(b, at - 1) > UNIT_MAX) ? at - 1 : at
}

/** Largest code point that takes one code unit. */
const UNIT_MAX = 0xffff

const codeAt = (text: string, at: number): number => text.codePointAt(at) ?? NONE
const isLetter = (code: number): boolean =>
  code < ASCII_END
    ? (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
    : letter.test(String.fromCodePoint(code))
const isDigit = (code: number): boolean =>
  code < ASCII_END ? code >= ZERO && code <= NINE : digit.test(String.fromCodePoint(code))

/**
 * Compares the numbers that begin at `at`, in 64 bits as Go does, and then how many digits they
 * have.
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
 * Number of code units at the end of a number that affect its value in 64 bits. Digits before the
 * last 64 only add multiples of 2^64. A digit takes up to two code units.
 */
const WRAPPED_UNITS = 128

/**
 * Returns the value of a long number. It is a bigint only if a JavaScript number would not be
 * exact, so that it can equal a result of `numberIn`.
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
 * Sorts keys in natural order, and yields while it sorts many. The order is not transitive: `2` is
 * before `120`, `120` before `1a`, and `1a` before `2`. How such keys are ordered depends on the
 * sorting algorithm. In kube-apiserver, their order changes from one response to the next.
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

/** Maximum number of keys that are sorted without a pause. */
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
