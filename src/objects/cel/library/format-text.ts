/**
 * Implements `"%s is %d".format([...])` like version 2 of the function in cel-go. Numbers are
 * formatted for the English locale.
 */
import { quoteWhole } from '../../../api/quote.ts'
import type { Call, Expr, ListExpr } from '../ast.ts'
import type { CheckedExpression } from '../checker.ts'
import { compareStrings } from '../compare.ts'
import { formatDouble, toStringValue } from '../conversions.ts'
import type { Meter } from '../functions.ts'
import type { Fault } from '../source.ts'
import { nameOf, type Type } from '../types.ts'
import {
  CelError,
  Duration,
  isList,
  isMap,
  itemsOf,
  type ListValue,
  type MapValue,
  type Result,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from '../values.ts'

/**
 * Maximum precision, which bounds the length of the result. A higher precision is reduced to this
 * value.
 */
const PRECISION_MAX = 1000

type Clause = { readonly verb: string; readonly precision: number }
/**
 * A piece of a format string: literal text, a clause such as `%d`, or the error at which formatting
 * stops.
 */
type Piece = string | Clause | CelError

export function formatText(format: string, args: ListValue, meter: Meter): Result {
  const texts: string[] = []
  let at = 0
  for (const piece of readFormat(format)) {
    if (typeof piece === 'string') texts.push(piece)
    else {
      if (at >= args.size) return outOfRange(at)
      if (piece instanceof CelError) return piece
      const text = formatClause(piece, args.at(at++), meter)
      if (text instanceof CelError) return text
      texts.push(text)
    }
  }
  return texts.join('')
}

const outOfRange = (at: number): CelError => new CelError(`index ${at} out of range`)

/** Validates a format and the types of its arguments at compile time. */
export function checkFormat(call: Call, list: ListExpr, checked: CheckedExpression): Fault[] {
  const format: Expr | undefined = call.target
  if (format?.kind !== 'literal' || typeof format.value !== 'string') return []
  const fault = (message: string, { offset }: Expr = call): Fault[] => [{ offset, message }]
  let count = 0
  for (const piece of readFormat(format.value)) {
    if (typeof piece === 'string') continue
    const element = list.elements[count]
    if (piece === unexpectedEnd) return fault(piece.message)
    if (element === undefined) return fault(outOfRange(count).message)
    if (piece instanceof CelError) return fault(piece.message)
    count++
    const wrong = wrongPart(element, piece.verb, checked)
    if (wrong !== undefined)
      return fault(wrongType(piece.verb, shownType(checked.typeOf(wrong))).message, wrong)
  }
  if (count >= list.elements.length) return []
  return fault(
    `too many arguments supplied to string.format (expected ${count}, got ${list.elements.length})`,
  )
}

/**
 * Returns the part of an argument whose type the format verb does not accept, or undefined. For
 * `%s`, the elements of list and map literals are also checked.
 */
function wrongPart(expr: Expr, verb: string, checked: CheckedExpression): Expr | undefined {
  const type = checked.typeOf(expr)
  // The verbs `e` and `f` also accept strings such as "NaN", which represent numbers.
  const isText = type.kind === 'string' && (verb === 'e' || verb === 'f')
  if (type.kind !== 'dyn' && !isText && !takes(verb, kindOf(type))) return expr
  const inside =
    expr.kind === 'list'
      ? expr.elements
      : expr.kind === 'map'
        ? expr.entries.flatMap(({ key, value }) => [key, value])
        : []
  if (verb !== 's') return undefined
  for (const part of inside) {
    const wrong = wrongPart(part, verb, checked)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

/**
 * Returns the name of a type without type parameters. Error messages about values use this form.
 */
function shownType(type: Type): string {
  if (type.kind === 'list' || type.kind === 'map' || type.kind === 'type') return type.kind
  if (type.kind === 'duration') return 'google.protobuf.Duration'
  if (type.kind === 'timestamp') return 'google.protobuf.Timestamp'
  if (type.kind === 'null') return 'null_type'
  return type.kind === 'opaque' ? type.name : nameOf(type)
}

const kindOf = (type: Type): string =>
  type.kind === 'struct' || type.kind === 'opaque' ? type.name : type.kind

const unexpectedEnd = new CelError('unexpected end of string')
const unreadable = (why: string): CelError =>
  new CelError(`could not parse formatting clause: ${why}`)

function* readFormat(format: string): Generator<Piece> {
  let at = 0
  while (at < format.length) {
    const mark = format.indexOf('%', at)
    if (mark === -1) return yield format.slice(at)
    if (mark > at) yield format.slice(at, mark)
    if (format.startsWith('%%', mark)) {
      yield '%'
      at = mark + 2
      continue
    }
    const [whole = '', digits, verb] = /^(?:\.([0-9]*))?(.)?/su.exec(format.slice(mark + 1)) ?? []
    if (verb === undefined) {
      const noEnd = 'error while parsing precision: could not find end of precision specifier'
      return yield digits === undefined ? unexpectedEnd : unreadable(noEnd)
    }
    if (digits === '') {
      const why =
        'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
      return yield unreadable(`error while parsing precision: ${why}`)
    }
    if (!'sdfebxXo'.includes(verb)) {
      // cel-go's message contains only the first byte of the verb.
      const byte = String.fromCharCode(Buffer.from(verb)[0] ?? 0)
      return yield unreadable(`unrecognized formatting clause "${byte}"`)
    }
    yield { verb, precision: Math.min(Number(digits ?? 6), PRECISION_MAX) }
    at = mark + 1 + whole.length
  }
}

const taken: { readonly [verb: string]: readonly string[] } = {
  s: [
    'string',
    'bool',
    'bytes',
    'int',
    'uint',
    'double',
    'map',
    'list',
    'type',
    'duration',
    'timestamp',
    'null',
    'null_type',
    'google.protobuf.Duration',
    'google.protobuf.Timestamp',
  ],
  d: ['int', 'uint'],
  f: ['double'],
  e: ['double'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'bytes', 'string'],
  X: ['int', 'uint', 'bytes', 'string'],
  o: ['int', 'uint'],
}
const takes = (verb: string, type: string): boolean => taken[verb]?.includes(type) ?? false

const rules: { readonly [verb: string]: string } = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
  o: 'octal clause can only be used on integers',
}
const wrongType = (verb: string, type: string): CelError =>
  new CelError(`error during formatting: ${rules[verb]}, was given ${type}`)

function formatClause({ verb, precision }: Clause, value: Value, meter: Meter): string | CelError {
  const wrong = wrongType(verb, typeNameOf(value))
  const integer =
    value instanceof Uint ? value.value : typeof value === 'bigint' ? value : undefined
  switch (verb) {
    case 's':
      return shown(value, { isInside: false, meter })
    case 'd':
      return integer === undefined ? wrong : String(integer)
    case 'f':
    case 'e': {
      const number = typeof value === 'string' ? numberTexts.get(value) : value
      if (typeof number !== 'number') return wrong
      return verb === 'f' ? fixedPoint(number, precision) : scientific(number)
    }
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : (integer?.toString(2) ?? wrong)
    case 'o':
      return integer?.toString(8) ?? wrong
    default: {
      const hex = integer?.toString(16) ?? hexOf(value)
      return hex === undefined ? wrong : verb === 'X' ? hex.toUpperCase() : hex
    }
  }
}

const numberTexts: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
])

function hexOf(value: Value): string | undefined {
  if (typeof value === 'string') return Buffer.from(value).toString('hex')
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : undefined
}

type FormatContext = { readonly isInside: boolean; readonly meter: Meter }

/** Estimated time to format a value. */
const SHOWN_NANOS = 600
/**
 * Estimated time per key to list the keys of a JSON map for the first time. The time per key grows
 * with the number of keys.
 */
const KEY_NANOS = 300
/** Estimated time per quoted character. */
const SHOWN_CHARACTER_NANOS = 50

/**
 * Formats a value for `%s`. In lists and maps, strings are quoted and doubles have a decimal point.
 */
function shown(value: Value, { isInside, meter }: FormatContext): string | CelError {
  meter.work(SHOWN_NANOS + (typeof value === 'string' ? value.length * SHOWN_CHARACTER_NANOS : 0))
  if (value === null) return 'null'
  if (typeof value === 'string') return isInside ? quoteWhole(value) : value
  if (typeof value === 'number') return isInside ? literalDouble(value) : formatDouble(value)
  if (value instanceof TypeValue) return value.name
  if (isList(value)) return shownList(value, meter)
  if (isMap(value)) return shownMap(value, meter)
  if (!takes('s', typeNameOf(value))) return unprintable(typeNameOf(value), isInside)
  const text = toStringValue(value)
  if (text instanceof CelError)
    return failed(`could not convert argument ${quoteWhole(text.message)} to string`)
  if (typeof text !== 'string') return unprintable(typeNameOf(value), isInside)
  if (!isInside) return text
  if (value instanceof Timestamp) return `timestamp("${text}")`
  if (value instanceof Duration) return `duration("${text}")`
  return value instanceof Uint8Array ? `b${quoteWhole(text)}` : text
}

const failed = (why: string): CelError => new CelError(`error during formatting: ${why}`)
const unprintable = (type: string, isInside: boolean): CelError =>
  isInside ? failed(`no formatting function for ${type}`) : wrongType('s', type)

function shownList(list: ListValue, meter: Meter): string | CelError {
  const texts: string[] = []
  for (const item of itemsOf(list)) {
    const text = shown(item, { isInside: true, meter })
    if (text instanceof CelError) return text
    texts.push(text)
  }
  return `[${texts.join(', ')}]`
}

/** Formats a map. Entries are sorted by the formatted keys. */
function shownMap(map: MapValue, meter: Meter): string | CelError {
  if (map.isCounted === false) meter.work(map.size * KEY_NANOS)
  const pairs: { readonly name: string; readonly value: string }[] = []
  for (const key of map.keys()) {
    const name = shown(key, { isInside: true, meter })
    if (name instanceof CelError) return name
    const value = shown(map.get(key) ?? null, { isInside: true, meter })
    if (value instanceof CelError) return value
    pairs.push({ name, value })
  }
  pairs.sort((one, other) => compareStrings(one.name, other.name))
  return `{${pairs.map(({ name, value }) => `${name}:${value}`).join(', ')}}`
}

/** Formats a double as a CEL literal. */
function literalDouble(value: number): string {
  return Number.isFinite(value) ? roundHalfEven(value, 6) : quoteWhole(formatDouble(value))
}

function fixedPoint(value: number, precision: number): string {
  const special = specialNumber(value)
  if (special !== undefined) return special
  const [whole = '', fraction] = roundHalfEven(value, Math.min(precision, 100)).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction.padEnd(precision, '0')}`
}

/** The smallest number that JavaScript formats with an exponent. */
const EXPONENT_MIN = 1e21

/**
 * Rounds a number to a precision as Go does. Go rounds an exact half to even, whereas JavaScript
 * rounds it up.
 */
export function roundHalfEven(value: number, precision: number): string {
  if (Math.abs(value) >= EXPONENT_MIN)
    return `${BigInt(value)}${precision > 0 ? `.${'0'.repeat(precision)}` : ''}`
  const text = value.toFixed(precision)
  const shifted = Math.abs(value) * 10 ** precision
  // Only a number with few binary digits can be exactly halfway between two decimal numbers.
  const isExact = Number.isInteger(value * 2 ** (precision + 1))
  if (!isExact || !Number.isSafeInteger(shifted * 2) || shifted % 1 !== 0.5) return text
  const even = Math.floor(shifted) % 2 === 0 ? Math.floor(shifted) : Math.ceil(shifted)
  return ((Math.sign(value) * even) / 10 ** precision).toFixed(precision)
}

const raised = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'] as const

function scientific(value: number): string {
  const special = specialNumber(value)
  if (special !== undefined) return special
  const [digits = '', exponent = ''] = value.toExponential(6).split('e')
  const sign = exponent.startsWith('-') ? '⁻' : ''
  const power = exponent.slice(1).padStart(2, '0')
  return `${digits}×10${sign}${Array.from(power, (digit) => raised[Number(digit)] ?? '').join('')}`
}

function specialNumber(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN'
  if (Number.isFinite(value)) return undefined
  return value > 0 ? '∞' : '-∞'
}
