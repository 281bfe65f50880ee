/**
 * JSON values, decoded as in Go. Integers beyond 2^53 are exact (as bigint), and a lone surrogate
 * becomes U+FFFD.
 */
import { cutText } from '../lib/text/cut-text.ts'
import { BACKSLASH, COLON, SPACE } from '../lib/bytes/ascii.ts'
import { isDivided, repeat } from '../lib/scheduling/parts.ts'
import type { Steps } from '../lib/scheduling/slices.ts'
import { JsonMap } from './json-map.ts'
import { JsonScanner, JsonSyntaxError, parsedList } from './json-scanner.ts'
import type { Json } from './object.ts'

/** Minimum number of digits of a number that JSON.parse may not represent exactly. */
const LONG_DIGITS = 16
const longNumber = /[0-9]{16}/
/**
 * Maximum nesting depth of a document. No real object is nested that deeply, and recursive code
 * overflows the stack only at a much greater depth. (kube-apiserver's limit is 10,000.)
 */
export const DEPTH_MAX = 1000

/**
 * Reads a value of any type at the scanner's position. Objects have no prototype, because clients
 * choose the keys. `onRepeat` is called for objects with a duplicate key. The last value of a
 * duplicate key is used.
 */
export function readAny(scanner: JsonScanner, depth = 0, onRepeat?: () => void): Json {
  const type = scanner.peekType()
  if (depth === DEPTH_MAX && (type === 'object' || type === 'array')) {
    scanner.at++
    throw scanner.tooDeep()
  }
  switch (type) {
    case 'object': {
      if (isDivided()) return readFieldsInParts(scanner, depth, onRepeat)
      const fields = new JsonMap()
      let count = 0
      for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
        const key = scanner.readKey()
        fields[key] = readAny(scanner, depth + 1, onRepeat)
        count++
      }
      // If the object has fewer fields than were read, a key occurred twice. This check is faster
      // than looking up each key before it is added.
      if (onRepeat !== undefined && Object.keys(fields).length < count) onRepeat()
      return fields
    }
    case 'array': {
      const list = readLongList(scanner)
      if (list !== undefined) return list
      if (isDivided()) return readItemsInParts(scanner, depth, onRepeat)
      const items: Json[] = []
      for (let more = scanner.beginArray(); more; more = scanner.nextInArray())
        items.push(readAny(scanner, depth + 1, onRepeat))
      return items
    }
    case 'string':
      return scanner.readString()
    case 'number':
      return readNumber(scanner.readNumber())
    case 'bool':
      return scanner.readBoolean()
    case 'null':
      scanner.skipNull()
      return null
  }
}

function readFieldsInParts(scanner: JsonScanner, depth: number, onRepeat?: () => void): JsonMap {
  const begin = (): { readonly fields: JsonMap; count: number; more: boolean; at: number } => {
    const more = scanner.beginObject()
    return { fields: new JsonMap(), count: 0, more, at: scanner.at }
  }
  const { fields, count, at } = repeat(scanner.at, begin, (read) => {
    scanner.at = read.at
    if (!read.more) return false
    const key = scanner.readKey()
    read.fields[key] = readAny(scanner, depth + 1, onRepeat)
    read.count++
    read.more = scanner.nextInObject()
    read.at = scanner.at
    return read.more
  })
  scanner.at = at
  if (onRepeat !== undefined && Object.keys(fields).length < count) onRepeat()
  return fields
}

function readItemsInParts(scanner: JsonScanner, depth: number, onRepeat?: () => void): Json[] {
  const begin = (): { readonly items: Json[]; more: boolean; at: number } => {
    const more = scanner.beginArray()
    return { items: [], more, at: scanner.at }
  }
  const { items, at } = repeat(scanner.at, begin, (read) => {
    scanner.at = read.at
    if (!read.more) return false
    read.items.push(readAny(scanner, depth + 1, onRepeat))
    read.more = scanner.nextInArray()
    read.at = scanner.at
    return read.more
  })
  scanner.at = at
  return items
}

/**
 * Reads a long list. Returns undefined and does not move if there is no long list at the scanner's
 * position, or if it has a number that JSON.parse reads differently.
 */
function readLongList(scanner: JsonScanner): Json[] | undefined {
  const list = scanner.longList()
  if (list === undefined || longNumber.test(list)) return undefined
  const items: Json[] | undefined = parsedList(list)
  if (items?.every((item) => typeof item !== 'number' || Number.isFinite(item)) !== true)
    return undefined
  scanner.at += list.length
  return items
}

/** Thrown if the JSON is valid, but a number in it does not fit in 64 bits. */
export class JsonNumberError extends JsonSyntaxError {}

/** Length of the smallest int64. Go decodes longer integers as float64. */
const INTEGER_DIGITS_MAX = '-9223372036854775808'.length

function readNumber(literal: string): number | bigint {
  const value = Number(literal)
  if (!Number.isFinite(value)) {
    throw new JsonNumberError(
      `json: cannot unmarshal number ${cutText(literal)} into Go value of type float64`,
    )
  }
  if (!isLongInteger(value, literal)) return value
  const integer = BigInt(literal)
  return BigInt.asIntN(64, integer) === integer ? integer : value
}

const isLongInteger = (value: number, literal: string): boolean =>
  !Number.isSafeInteger(value) && literal.length <= INTEGER_DIGITS_MAX && /^-?[0-9]+$/.test(literal)

/**
 * Returns whether a key contains an escape sequence. JSON.parse of V8 13.6 (Node 24) can confuse
 * such a key with another key. This happens if an earlier object has a key of the same length in
 * the same position, and that key equals the beginning of the escaped text. For example, the key
 * `\n` (a line feed) can be read as a backslash. This function visits each escape sequence once,
 * and most documents have few of them.
 */
export function hasEscapedKey(text: string): boolean {
  let quote = -1
  for (let escape = text.indexOf('\\'); escape !== -1; ) {
    const from = escape + 2
    if (quote < from) quote = text.indexOf('"', from)
    if (quote === -1) return false
    escape = text.indexOf('\\', from)
    // The next escape sequence comes before the next quote, so it is in the same string as the
    // previous one.
    if (escape !== -1 && escape < quote) continue
    let next = quote + 1
    while (text.charCodeAt(next) <= SPACE) next++
    if (text.charCodeAt(next) === COLON) return true
  }
  return false
}

/** Returns the position of the closing quote, or -1 if there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    if ((end - before) % 2 === 1) return end
  }
  return -1
}

/** Parses JSON. Fails with a SyntaxError if the bytes are not JSON. */
export const parseJson = (bytes: Buffer): Json => parseText(bytes.toString('utf8'))

/** Like `parseJson`, but parses a string. Objects have the usual prototype. */
export function parseText(text: string): Json {
  if (hasEscapedKey(text)) {
    const scanner = new JsonScanner(text)
    const value = readAny(scanner)
    scanner.end()
    return structuredClone(value)
  }
  const value: Json = hasLongNumber(text) ? JSON.parse(text, exactInteger) : JSON.parse(text)
  return value
}

/**
 * Returns whether JSON.parse might lose digits of a number. In that case a reviver must be used,
 * which preserves all digits but takes ten times as long. Digits in strings are ignored, because
 * they do not require the reviver.
 */
function hasLongNumber(text: string): boolean {
  if (!longNumber.test(text)) return false
  for (let from = 0; from < text.length; ) {
    const start = text.indexOf('"', from)
    const end = start === -1 ? -1 : endOfString(text, start)
    const until = start === -1 ? text.length : start
    if (until - from >= LONG_DIGITS && longNumber.test(text.slice(from, until))) return true
    if (end === -1) return false
    from = end + 1
  }
  return false
}

/**
 * Preserves all digits of int64 and uint64, as Go's YAML library does. Larger numbers become
 * floats. The third argument (the source text of a primitive) is part of JavaScript, but not yet of
 * TypeScript's library types.
 */
function exactInteger(
  _key: string,
  value: unknown,
  context?: { readonly source?: string },
): unknown {
  const source = context?.source ?? ''
  if (typeof value !== 'number' || !isLongInteger(value, source)) return value
  const integer = BigInt(source)
  return BigInt.asIntN(64, integer) === integer || BigInt.asUintN(64, integer) === integer
    ? integer
    : value
}

/**
 * Number of values that are read before the function pauses. Reading this many values takes a few
 * hundred microseconds.
 */
const VALUES_PER_STEP = 1024
/**
 * Number of characters that are read before the function pauses, even if they contain few values.
 */
const CHARACTERS_PER_STEP = 32 << 10

/**
 * Like `parseJson`, but pauses regularly while it reads a large value. Objects have no prototype.
 * The nesting depth is not limited here: the value can be a list, and the limit applies to each
 * object in it. Fails with a JsonSyntaxError if the bytes are not JSON.
 */
export function* parseInSteps(bytes: Buffer): Steps<Json> {
  const scanner = new JsonScanner(bytes.toString('utf8'))
  // Pause after the conversion from UTF-8, which takes tens of milliseconds for 20 MB.
  yield
  /**
   * The stack of objects and arrays that contain the current position. An object is stored with the
   * key whose value is being read.
   */
  const open: Container[] = []
  let pausedAt = 0
  for (let count = 1; ; count++) {
    if (count % VALUES_PER_STEP === 0 || scanner.at - pausedAt > CHARACTERS_PER_STEP) {
      pausedAt = scanner.at
      yield
    }
    const begun = beginContainer(scanner)
    if (begun !== undefined && begun.isOpen) {
      open.push(begun)
      continue
    }
    let value = begun === undefined ? readAny(scanner) : begun.value
    for (let into = open.at(-1); !put(value, into, scanner); into = open.at(-1)) {
      open.pop()
      if (into === undefined) return value
      value = into.value
    }
  }
}

type Container =
  | { readonly value: JsonMap; key: string; readonly isOpen: boolean }
  | { readonly value: Json[]; readonly key: undefined; readonly isOpen: boolean }

/** Begins an object or array. Undefined if the value is a scalar. */
function beginContainer(scanner: JsonScanner): Container | undefined {
  const type = scanner.peekType()
  if (type === 'array') return { value: [], key: undefined, isOpen: scanner.beginArray() }
  if (type !== 'object') return undefined
  const isOpen = scanner.beginObject()
  return { value: new JsonMap(), key: isOpen ? scanner.readKey() : '', isOpen }
}

/**
 * Adds a value to the object or list `into`. Returns false if this was the last value in it. A
 * document that is a single value has no `into`, and also returns false.
 */
function put(value: Json, into: Container | undefined, scanner: JsonScanner): boolean {
  if (into === undefined) {
    scanner.end()
    return false
  }
  if (into.key === undefined) {
    into.value.push(value)
    return scanner.nextInArray()
  }
  into.value[into.key] = value
  if (!scanner.nextInObject()) return false
  into.key = scanner.readKey()
  return true
}
