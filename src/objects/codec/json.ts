/**
 * Prints JSON as Go does: `<`, `>`, `&`, U+2028 and U+2029 are escaped, and a lone surrogate
 * becomes U+FFFD.
 */
import { badRequest } from '../../api/errors.ts'
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { JsonMap } from '../../api/json-map.ts'
import { DEPTH_MAX } from '../../api/json-value.ts'
import type { JsonScanner, JsonType } from '../../api/json-scanner.ts'
import { joinedInParts } from '../../lib/scheduling/join-in-parts.ts'
import { isDivided, once, repeat } from '../../lib/scheduling/parts.ts'
import { sortInParts } from '../../lib/scheduling/sort-in-parts.ts'
import { compactedBytes } from './compacted-bytes.ts'

/** Returns the JSON type of a value, as named in error messages. */
export function jsonTypeOf(value: Json): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'number'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return typeof value === 'number' ? 'number' : 'object'
}

/**
 * Returns the JSON text of the next value as Go prints it: without whitespace, and with Go's escape
 * sequences.
 */
export function readRaw(scanner: JsonScanner): string {
  scanner.peekType()
  const start = scanner.at
  scanner.skipValue()
  return compacted(scanner.text.slice(start, scanner.at))
}

/** Converts a JSON text to the form in which Go prints it, as `readRaw` does. */
export function compacted(text: string): string {
  if (text.length > LONG_CHARACTERS) return compactedLong(text)
  if (!mayChange.test(text)) return text
  return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|[ \t\r\n]+/g, (token) =>
    token.startsWith('"')
      ? token.replace(escaped, (character) => escapes[character] ?? character)
      : '',
  )
}

const mayChange = /[\s<>&\u2028\u2029]/

function compactedLong(text: string): string {
  const bytes = once('bytes to compact', () =>
    mayChange.test(text) ? Buffer.from(text) : undefined,
  )
  return bytes === undefined ? text : compactedBytes(bytes).toString()
}

/**
 * Strings from this length on are processed byte by byte or in pieces. With a callback for each
 * character or token, millions of them would block the event loop.
 */
const LONG_CHARACTERS = 16 * 1024

const needsEscape = /[<>&\u2028\u2029\ud800-\udfff]/
const escaped = /[<>&\u2028\u2029]/g
const escapes: { readonly [character: string]: string } = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/** Matches strings that need no escape sequences. */
const plain = /^[ !#-%'-;=?-[\]-~]*$/

/** Table indexed by ASCII code. It contains 1 for each character that needs no escape sequence. */
export const plainCharacters: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  plain.test(String.fromCharCode(code)) ? 1 : 0,
)

export function printString(text: string): string {
  return text.length > LONG_CHARACTERS && isDivided() ? printLongString(text) : printWhole(text)
}

/** Prints the value of a string field. Null is the empty string. */
export const printText = (value: Json): string =>
  typeof value === 'string' ? printString(value) : '""'

function printWhole(text: string): string {
  if (plain.test(text)) return `"${text}"`
  if (!needsEscape.test(text)) return JSON.stringify(text)
  const quoted = JSON.stringify(text.toWellFormed())
  if (quoted.length > LONG_CHARACTERS) return compactedBytes(Buffer.from(quoted)).toString()
  return quoted.replace(escaped, (character) => escapes[character] ?? character)
}

function printLongString(text: string): string {
  const { printed } = repeat(
    'long string',
    (): { printed: string; at: number } => ({ printed: '', at: 0 }),
    (state) => {
      const end = state.at + LONG_CHARACTERS
      // A piece must not end inside a surrogate pair.
      const part = text.slice(state.at, (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end)
      state.printed += printWhole(part).slice(1, -1)
      state.at += part.length
      return state.at < text.length
    },
  )
  return `"${printed}"`
}

/**
 * Compares keys by their UTF-8 bytes. This corresponds to the order of code points, which differs
 * from the order of JavaScript strings.
 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const one = a.charCodeAt(at)
    const other = b.charCodeAt(at)
    if (one === other) continue
    // Surrogates stand for the largest code points, although they are smaller than the code units
    // U+E000 to U+FFFF.
    const isOneSurrogate = one >= 0xd800 && one <= 0xdfff
    const isOtherSurrogate = other >= 0xd800 && other <= 0xdfff
    if (isOneSurrogate !== isOtherSurrogate) return isOneSurrogate ? 1 : -1
    return one - other
  }
  return a.length - b.length
}

/** Prints a value with its keys sorted at every level. Go does this for values without a type. */
export function printSorted(value: Json): string {
  if (typeof value === 'string') return printString(value)
  if (typeof value !== 'object' || value === null) return `${value}`
  if (isDivided()) return printSlowly(value)
  const sorting = new Sorting()
  const sorted = sorting.sorted(value)
  const text = sorting.isExact ? JSON.stringify(sorted) : undefined
  // Unlike Go, JSON.stringify escapes lone surrogates.
  if (text === undefined || text.includes('\\ud')) return printSlowly(value)
  return text.replace(escaped, (character) => escapes[character] ?? character)
}

/**
 * Creates a copy of a value in which all keys are sorted. JSON.stringify prints the copy faster
 * than other code could print the original.
 */
class Sorting {
  /** Whether JSON.stringify prints the value as Go does. */
  isExact = true

  sorted(value: Json): Json {
    if (typeof value !== 'object' || value === null) {
      if (typeof value === 'bigint') this.isExact = false
      return value
    }
    if (!isFields(value)) return this.#items(value)
    const keys = Object.keys(value)
    const first = keys[0]?.charCodeAt(0) ?? 0
    // JavaScript always visits keys that are integers first, in numeric order. Such keys cannot be
    // in alphabetical order.
    if (first >= DIGIT_ZERO && first <= DIGIT_NINE) this.isExact = false
    return this.#fields(value, keys)
  }

  #items(items: readonly Json[]): Json {
    const isPlain = items.every((item) => typeof item !== 'object' && typeof item !== 'bigint')
    return isPlain ? items : items.map((item) => this.sorted(item))
  }

  #fields(fields: Fields, keys: string[]): Json {
    let copy = areSorted(keys) ? undefined : new JsonMap()
    if (copy !== undefined) keys.sort(compareKeys)
    let at = 0
    for (const key of keys) {
      const field = fields[key]
      const sorted = this.sorted(field ?? null)
      if (sorted !== field) copy ??= copyOf(fields, keys.slice(0, at))
      if (copy !== undefined) copy[key] = sorted
      at++
    }
    return copy ?? fields
  }
}

const DIGIT_ZERO = 0x30
const DIGIT_NINE = 0x39

function copyOf(fields: Fields, keys: readonly string[]): JsonMap {
  const copy = new JsonMap()
  for (const key of keys) copy[key] = fields[key] ?? null
  return copy
}

function areSorted(keys: readonly string[]): boolean {
  for (let at = 1; at < keys.length; at++)
    if (compareKeys(keys[at - 1] ?? '', keys[at] ?? '') > 0) return false
  return true
}

function printSlowly(value: Json): string {
  if (!isFields(value))
    return Array.isArray(value) ? `[${joinedInParts(value, printSlowly)}]` : printOrdered(value)
  const keys = sortedInParts(value)
  return `{${joinedInParts(keys, (key) => `${printString(key)}:${printSlowly(value[key] ?? null)}`)}}`
}

/**
 * Does the same as `sortedKeys`. In work that is divided into parts, later parts do not sort the
 * keys again.
 */
export const sortedInParts = (fields: Fields): readonly string[] =>
  once('sorted keys', () => {
    const { keys, isSorted } = once('given keys', () => givenKeys(fields))
    return isSorted ? keys : sortInParts('sort of keys', keys, compareKeys)
  })

function givenKeys(fields: Fields): {
  readonly keys: readonly string[]
  readonly isSorted: boolean
} {
  const keys = Object.keys(fields)
  return { keys, isSorted: areSorted(keys) }
}

/** Returns the keys in sorted order. The keys of most objects already have this order. */
export function sortedKeys(fields: Fields): readonly string[] {
  const keys = Object.keys(fields)
  return areSorted(keys) ? keys : keys.sort(compareKeys)
}

/** Prints a value without sorting its keys. Absent fields are omitted. */
export function printOrdered(value: Json): string {
  return printValue(value, 0)
}

/**
 * Does the same as `printOrdered`, but uses JSON.stringify, which is many times as fast. Use it for
 * documents with many strings that need not be printed in parts.
 */
export function printQuickly(value: Json): string {
  const text = stringified(value)
  // JSON.stringify escapes a lone surrogate, but Go does not.
  if (text === undefined || text.includes('\\ud')) return printOrdered(value)
  if (!needsEscape.test(text)) return text
  if (text.length > LONG_CHARACTERS) return compactedBytes(Buffer.from(text)).toString()
  return text.replace(escaped, (character) => escapes[character] ?? character)
}

/**
 * Prints a value with JSON.stringify. Returns undefined if the value contains a bigint, for which
 * JSON.stringify throws. Converting bigints with a replacer function would take most of the time.
 */
function stringified(value: Json): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/**
 * Prints a value with JSON.stringify, which is many times as fast as `printSorted`. But it does not
 * support integers beyond 2^53, so `printSorted` prints values that contain them.
 */
export function printFast(value: Json): string {
  let isExact = true
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'bigint') return part
    isExact = false
    return null
  })
  return isExact ? text : printOrdered(value)
}

function printValue(value: Json, depth: number): string {
  if (typeof value === 'string') return printString(value)
  if (value === null || typeof value !== 'object') return `${value}`
  if (depth === DEPTH_MAX) throw badRequest('exceeded max depth')
  if (!isFields(value)) return `[${joinedInParts(value, (item) => printValue(item, depth + 1))}]`
  if (isDivided()) {
    const keys = once('ordered keys', () =>
      Object.keys(value).filter((key) => value[key] !== undefined),
    )
    return `{${joinedInParts(keys, (key) => `${printString(key)}:${printValue(value[key] ?? null, depth + 1)}`)}}`
  }
  const parts: string[] = []
  for (const [key, field] of Object.entries(value)) {
    if (field !== undefined) parts.push(`${printString(key)}:${printValue(field, depth + 1)}`)
  }
  return `{${parts.join(',')}}`
}
