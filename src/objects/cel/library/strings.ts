/** The extended string functions. Their indexes count code points. */
import { quoteWhole } from '../../../api/quote.ts'
import { countPoints, hasPairs, sizeOf, TEXT_FACTOR, traversal } from '../cost.ts'
import type { Library } from '../environment.ts'
import {
  type Estimate,
  type FunctionPart,
  member,
  type Meter,
  global,
  type Operand,
  type Range,
  type Signature,
} from '../functions.ts'
import { larger, nothing, plus, scaled, smaller, times, UNBOUNDED, unknownSize } from '../ranges.ts'
import { int, list, dyn, string } from '../types.ts'
import {
  ArrayList,
  CelError,
  isList,
  itemsOf,
  noSuchOverload,
  type Result,
  type Value,
} from '../values.ts'
import { formatText } from './format-text.ts'

const sizeAt = (operands: readonly Operand[], at: number): Range =>
  operands[at]?.size ?? unknownSize
const outOfRange = (index: bigint): CelError => new CelError(`index out of range: ${index}`)

const slice = (text: string, from: number, to?: number): string =>
  text.slice(toUnits(text, from), to === undefined ? undefined : toUnits(text, to))

const oneTraversal: Estimate = (operands) => ({
  cost: scaled(sizeAt(operands, 0), TEXT_FACTOR),
  size: sizeAt(operands, 0),
})
const rewriting = {
  estimate: oneTraversal,
  cost: ([text = null]: readonly Value[]) => traversal(sizeOf(text)),
}
const twoTraversals = ([text = null]: readonly Value[]): number =>
  traversal(sizeOf(text), 2 * TEXT_FACTOR)

const onText =
  (run: (text: string) => Result): FunctionPart['run'] =>
  (text) =>
    typeof text === 'string' ? run(text) : noSuchOverload

/**
 * Searches for a string. If the string is empty, the result is the start position, even outside of
 * the text. In an empty text, the default start position for the last index is -1, which is out of
 * range.
 */
function search(text: Value, part: Value, from: Value, isLast: boolean): Result {
  if (typeof text !== 'string' || typeof part !== 'string') return noSuchOverload
  if (from === null && text !== '')
    return toPoints(text, isLast ? text.lastIndexOf(part) : text.indexOf(part))
  const start = from ?? (isLast && part !== '' ? -1n : 0n)
  if (typeof start !== 'bigint') return noSuchOverload
  if (part === '') return start
  if (start < 0n) return outOfRange(start)
  if (start >= countPoints(text)) return -1n
  const at = toUnits(text, Number(start))
  return toPoints(text, isLast ? text.lastIndexOf(part, at) : text.indexOf(part, at))
}

const toPoints = (text: string, at: number): bigint =>
  BigInt(at < 0 ? -1 : countPoints(text.slice(0, at)))

/** Converts an index of code points to an index of UTF-16 code units. */
function toUnits(text: string, points: number): number {
  if (!hasPairs(text)) return points
  let at = 0
  for (let left = points; left > 0 && at < text.length; left--) {
    const unit = text.charCodeAt(at)
    at += unit >= 0xd800 && unit <= 0xdbff ? 2 : 1
  }
  return at
}

function charAt(text: Value, at: Value): Result {
  if (typeof text !== 'string' || typeof at !== 'bigint') return noSuchOverload
  const points = BigInt(countPoints(text))
  if (at < 0n || at > points) return outOfRange(at)
  return slice(text, Number(at), Number(at) + 1)
}

function substring(text: Value, from: Value, to: Value): Result {
  if (typeof text !== 'string' || typeof from !== 'bigint') return noSuchOverload
  const points = BigInt(countPoints(text))
  if (to === null) return from < 0n || from > points ? outOfRange(from) : slice(text, Number(from))
  if (typeof to !== 'bigint') return noSuchOverload
  if (from > to) return new CelError(`invalid substring range. start: ${from}, end: ${to}`)
  if (from < 0n || from > points) return outOfRange(from)
  return to > points ? outOfRange(to) : slice(text, Number(from), Number(to))
}

/** Estimated time to visit a character. */
const CHARACTER_NANOS = 1
/** Estimated time to extract a character. */
const POINT_NANOS = 60
/** Estimated time to extract a piece of a text and to insert it into the result. */
const PIECE_NANOS = 150

/** Maximum length of a result. A longer result would cost more than any expression may. */
const RESULT_CHARACTERS_MAX = 16 * 1024 * 1024

function replace(text: Value, part: Value, by: Value, count: Value, meter: Meter): Result {
  if (typeof text !== 'string' || typeof part !== 'string' || typeof by !== 'string')
    return noSuchOverload
  const most = count === null ? -1n : count
  if (typeof most !== 'bigint') return noSuchOverload
  if (most === 0n) return text
  meter.work(text.length * (part === '' ? POINT_NANOS : CHARACTER_NANOS))
  const pieces = part === '' ? ['', ...Array.from(text), ''] : piecesOf(text, part, meter)
  const replaced = Math.min(pieces.length - 1, most < 0n ? pieces.length - 1 : Number(most))
  meter.work((part === '' ? pieces.length * PIECE_NANOS : 0) + replaced * by.length)
  if (replaced * by.length > RESULT_CHARACTERS_MAX) return new CelError('result is too long')
  if (part === '') return joinSome(pieces.slice(1, -1), by, replaced)
  return (
    pieces.slice(0, replaced + 1).join(by) +
    pieces
      .slice(replaced + 1)
      .map((piece) => part + piece)
      .join('')
  )
}

/**
 * Replaces the empty string, which occurs before each character and at the end of a text. Inserts
 * `by` at the first `count` of these positions.
 */
function joinSome(points: readonly string[], by: string, count: number): string {
  const before = points.map((point, at) => (at < count ? by + point : point)).join('')
  return points.length < count ? before + by : before
}

function split(text: Value, separator: Value, limit: Value, meter: Meter): Result {
  if (typeof text !== 'string' || typeof separator !== 'string') return noSuchOverload
  const most = limit === null ? -1n : limit
  if (typeof most !== 'bigint') return noSuchOverload
  if (most === 0n) return new ArrayList([])
  if (most === 1n) return new ArrayList([text])
  meter.work(text.length * (separator === '' ? POINT_NANOS : CHARACTER_NANOS))
  const pieces: string[] = separator === '' ? Array.from(text) : piecesOf(text, separator, meter)
  if (separator === '') meter.work(pieces.length * PIECE_NANOS)
  if (most < 0n || pieces.length <= most) return new ArrayList(pieces)
  const kept = Number(most) - 1
  return new ArrayList([...pieces.slice(0, kept), pieces.slice(kept).join(separator)])
}

/**
 * Splits a text. The text can have as many pieces as characters, so the time for each piece is
 * charged before the piece is extracted.
 */
function piecesOf(text: string, separator: string, meter: Meter): string[] {
  const pieces: string[] = []
  let from = 0
  for (let at = text.indexOf(separator); at !== -1; at = text.indexOf(separator, from)) {
    meter.work(PIECE_NANOS)
    pieces.push(text.slice(from, at))
    from = at + separator.length
  }
  pieces.push(text.slice(from))
  return pieces
}

function join(items: Value, separator: Value, meter: Meter): Result {
  if (!isList(items)) return noSuchOverload
  const between = typeof separator === 'string' ? separator : ''
  const texts: string[] = []
  for (const item of itemsOf(items)) {
    if (typeof item !== 'string') return noSuchOverload
    meter.work(JOINED_NANOS + item.length + between.length)
    texts.push(item)
  }
  return texts.join(between)
}

const JOINED_NANOS = 50

const replacing: Estimate = (operands) => {
  const [size, part, by] = [sizeAt(operands, 0), sizeAt(operands, 1), sizeAt(operands, 2)]
  const most = longest(size, part, by)
  const least = shortest(size, part, by)
  return {
    cost: scaled(size, 2 * TEXT_FACTOR),
    size: { min: smaller(least, UNBOUNDED), max: smaller(most, UNBOUNDED) },
  }
}

/**
 * Returns the maximum length after a replacement. An empty string can be replaced before each
 * character and at the end.
 */
function longest(size: Range, part: Range, by: Range): bigint {
  if (part.min === 0n) return (size.max + 1n) * by.max + size.max
  return by.max <= part.min ? size.max : dividedUp(size.max, part.min) * by.max
}

function shortest(size: Range, part: Range, by: Range): bigint {
  if (part.max === 0n) return (size.min + 1n) * by.min + size.min
  return part.max <= by.min ? size.min : dividedUp(size.min, part.max) * by.min
}

const dividedUp = (value: bigint, by: bigint): bigint => (value + by - 1n) / by

const splitting: Estimate = (operands) => {
  const size = sizeAt(operands, 0)
  const limit = operands[2]?.expr
  const isBounded = limit?.kind === 'literal' && typeof limit.value === 'bigint'
  // A negative number means that there is no limit, but kube-apiserver's estimate converts it to an
  // unsigned integer.
  const max =
    isBounded && typeof limit.value === 'bigint' ? BigInt.asUintN(64, limit.value) : size.max
  return { cost: scaled(size, 2 * TEXT_FACTOR), size: { min: 0n, max } }
}

const joining: Estimate = (operands) => {
  const [items] = operands
  if (items === undefined) return undefined
  const all = times(items.size, items.elementSize())
  const between = { min: larger(items.size.min - 1n, 0n), max: larger(items.size.max - 1n, 0n) }
  const size = plus(all, operands.length > 1 ? times(sizeAt(operands, 1), between) : nothing)
  return { cost: scaled(size, TEXT_FACTOR), size }
}

/**
 * Matches a sequence of ASCII characters. With a match per character, `replace` would call its
 * callback far more often.
 */
// oxlint-disable-next-line no-control-regex
const ascii = /[\u0000-\u007f]+/g
/** Estimated time per character. It is the worst case, in which every second character is ASCII. */
const ASCII_NANOS = 60

const onAscii =
  (change: (letters: string) => string): FunctionPart['run'] =>
  (text, _, __, ___, meter) => {
    if (typeof text !== 'string') return noSuchOverload
    meter.last(text.length * ASCII_NANOS)
    return text.replace(ascii, change)
  }

const blank = /^\p{White_Space}$/u
const isBlank = (unit: number): boolean =>
  unit < 0x80
    ? unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)
    : blank.test(String.fromCharCode(unit))

function trim(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

const searchOverloads = (id: string): Signature[] => [
  member(`string_${id}_string`, [string, string], int),
  member(`string_${id}_string_int`, [string, string, int], int),
]

const basic: readonly FunctionPart[] = [
  { name: 'charAt', overloads: [member('string_char_at_int', [string, int], string)], run: charAt },
  {
    name: 'indexOf',
    overloads: searchOverloads('index_of'),
    run: (text, part, from) => search(text, part, from, false),
    estimate: (operands) => ({ cost: scaled(sizeAt(operands, 0), TEXT_FACTOR) }),
    cost: rewriting.cost,
  },
  {
    name: 'lastIndexOf',
    overloads: searchOverloads('last_index_of'),
    run: (text, part, from) => search(text, part, from, true),
    estimate: (operands) => ({ cost: scaled(sizeAt(operands, 0), TEXT_FACTOR) }),
    cost: rewriting.cost,
  },
  {
    name: 'lowerAscii',
    overloads: [member('string_lower_ascii', [string], string)],
    run: onAscii((letters) => letters.toLowerCase()),
    ...rewriting,
    isLong: true,
  },
  {
    name: 'upperAscii',
    overloads: [member('string_upper_ascii', [string], string)],
    run: onAscii((letters) => letters.toUpperCase()),
    ...rewriting,
    isLong: true,
  },
  {
    name: 'replace',
    overloads: [
      member('string_replace_string_string', [string, string, string], string),
      member('string_replace_string_string_int', [string, string, string, int], string),
    ],
    run: replace,
    estimate: replacing,
    cost: twoTraversals,
  },
  {
    name: 'split',
    overloads: [
      member('string_split_string', [string, string], list(string)),
      member('string_split_string_int', [string, string, int], list(string)),
    ],
    run: (text, separator, limit, _, meter) => split(text, separator, limit, meter),
    estimate: splitting,
    cost: twoTraversals,
  },
  {
    name: 'substring',
    overloads: [
      member('string_substring_int', [string, int], string),
      member('string_substring_int_int', [string, int, int], string),
    ],
    run: substring,
    ...rewriting,
  },
  {
    name: 'trim',
    overloads: [member('string_trim', [string], string)],
    run: onText(trim),
    ...rewriting,
  },
  {
    name: 'join',
    overloads: [
      member('list_join', [list(string)], string),
      member('list_join_string', [list(string), string], string),
    ],
    isLong: true,
    run: (items, separator, _, __, meter) => join(items, separator, meter),
    estimate: joining,
    cost: (_, result) => traversal(sizeOf(result), 2 * TEXT_FACTOR),
  },
]

/** Estimated time per character if all characters have to be escaped. */
const QUOTED_NANOS = 50

const formatting: readonly FunctionPart[] = [
  {
    name: 'format',
    overloads: [member('string_format', [string, list(dyn)], string)],
    isLong: true,
    run: (format, args, _, __, meter) =>
      typeof format === 'string' && isList(args) ? formatText(format, args, meter) : noSuchOverload,
    estimate: (operands) => ({ cost: scaled(sizeAt(operands, 0), TEXT_FACTOR) }),
    cost: rewriting.cost,
  },
  {
    name: 'strings.quote',
    overloads: [global('strings_quote', [string], string)],
    run: (text, _, __, ___, meter) => {
      if (typeof text !== 'string') return noSuchOverload
      meter.work(text.length * QUOTED_NANOS)
      return quoteWhole(text)
    },
    estimate: (operands) => {
      const size = sizeAt(operands, 0)
      // If the size is unknown, it is the largest integer, and the addition overflows, as in
      // kube-apiserver.
      const [min, max] = [size.min + 2n, BigInt.asUintN(64, size.max * 2n + 2n)]
      return { cost: scaled(size, TEXT_FACTOR), size: { min, max } }
    },
    cost: rewriting.cost,
  },
]

/** Declares `reverse`, which is not available in Kubernetes 1.33. */
const reversing: FunctionPart = {
  name: 'reverse',
  overloads: [member('string_reverse', [string], string)],
  run: onText((text) => Array.from(text).toReversed().join('')),
  ...rewriting,
}

/** The first release in which an empty text has no last index, instead of an error. */
const EMPTY_SEARCHED_SINCE = 34

/** Returns the basic functions of a minor version of Kubernetes. */
export const basicStringsOf = (release: number): Library => ({
  functions:
    release < EMPTY_SEARCHED_SINCE
      ? basic
      : basic.map((part) => (part.name === 'lastIndexOf' ? { ...part, run: searchLast } : part)),
})

const searchLast: FunctionPart['run'] = (text, part, from) =>
  text === '' && from === null && typeof part === 'string' && part !== ''
    ? -1n
    : search(text, part, from, true)

export const formattedStrings: Library = { functions: formatting }
export const reversedStrings: Library = { functions: [reversing] }
