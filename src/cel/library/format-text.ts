/** `"%s is %d".format([...])`: the second version of upstream's, with its numbers in English. */
import { quote } from '../../api/quote.ts'
import type { Call, Expr, List } from '../ast.ts'
import type { Checked } from '../checker.ts'
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

/** More digits than any double has. */
const PRECISION_MAX = 1000

type Clause = { readonly verb: string; readonly precision: number }
type Piece = string | Clause

export function formatText(format: string, args: ListValue, meter: Meter): Result {
  const pieces = readFormat(format)
  if (pieces instanceof CelError) return pieces
  const texts: string[] = []
  let at = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') texts.push(piece)
    else {
      if (at >= args.size) return new CelError(`index ${at} out of range`)
      const text = formatClause(piece, args.at(at++), meter)
      if (text instanceof CelError) return text
      texts.push(text)
    }
  }
  return texts.join('')
}

/** What is wrong with a format and its arguments by what is known of them before they are evaluated. */
export function checkFormat(call: Call, list: List, checked: Checked): Fault[] {
  const format: Expr | undefined = call.target
  if (format?.kind === undefined) return []
  if (format.kind !== 'literal' || typeof format.value !== 'string') return []
  const pieces = readFormat(format.value)
  if (pieces instanceof CelError) return [{ offset: call.offset, message: pieces.message }]
  const clauses = pieces.filter((piece) => typeof piece !== 'string')
  if (clauses.length < list.elements.length) {
    const message = `too many arguments supplied to string.format (expected ${clauses.length}, got ${list.elements.length})`
    return [{ offset: call.offset, message }]
  }
  for (const [at, { verb }] of clauses.entries()) {
    const element = list.elements[at]
    if (element === undefined) return [{ offset: call.offset, message: `index ${at} out of range` }]
    const type = checked.typeOf(element)
    if (type.kind === 'dyn' || takes(verb, kindOf(type))) continue
    return [{ offset: element.offset, message: wrongType(verb, shownType(type)).message }]
  }
  return []
}

/** Without what is in it, as values have it. */
function shownType(type: Type): string {
  if (type.kind === 'list' || type.kind === 'map' || type.kind === 'type') return type.kind
  if (type.kind === 'duration') return 'google.protobuf.Duration'
  if (type.kind === 'timestamp') return 'google.protobuf.Timestamp'
  if (type.kind === 'null') return 'null_type'
  return type.kind === 'opaque' ? type.name : nameOf(type)
}

const kindOf = (type: Type): string => (type.kind === 'struct' || type.kind === 'opaque' ? type.name : type.kind)

function readFormat(format: string): Piece[] | CelError {
  const pieces: Piece[] = []
  let at = 0
  while (at < format.length) {
    const mark = format.indexOf('%', at)
    if (mark === -1) return [...pieces, format.slice(at)]
    if (mark > at) pieces.push(format.slice(at, mark))
    const clause = /^(?:\.(\d*))?(.)?/su.exec(format.slice(mark + 1)) ?? []
    const [whole = '', digits, verb] = clause
    if (verb === undefined) return new CelError('unexpected end of string')
    if (digits === '') {
      const cause = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
      return new CelError(`could not parse formatting clause: error while parsing precision: ${cause}`)
    }
    if (verb === '%') pieces.push('%')
    else if (!'sdfebxXo'.includes(verb)) {
      return new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`)
    } else pieces.push({ verb, precision: Math.min(Number(digits ?? 6), PRECISION_MAX) })
    at = mark + 1 + whole.length
  }
  return pieces
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
  const integer = value instanceof Uint ? value.value : typeof value === 'bigint' ? value : undefined
  switch (verb) {
    case 's':
      return shown(value, { isInside: false, meter }) ?? wrong
    case 'd':
      return integer === undefined ? wrong : String(integer)
    case 'f':
      return typeof value === 'number' ? fixedPoint(value, precision) : wrong
    case 'e':
      return typeof value === 'number' ? scientific(value) : wrong
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

function hexOf(value: Value): string | undefined {
  if (typeof value === 'string') return Buffer.from(value).toString('hex')
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : undefined
}

type Showing = { readonly isInside: boolean; readonly meter: Meter }

const SHOWN_NANOS = 600
/** Quoted. */
const SHOWN_CHARACTER_NANOS = 50

/** Inside of lists and maps texts are quoted and doubles have a point. Undefined: it has no text. */
function shown(value: Value, { isInside, meter }: Showing): string | undefined {
  meter.work(SHOWN_NANOS + (typeof value === 'string' ? value.length * SHOWN_CHARACTER_NANOS : 0))
  if (value === null) return 'null'
  if (typeof value === 'string') return isInside ? quote(value) : value
  if (typeof value === 'number') return isInside ? fixedPoint(value, 6) : formatDouble(value)
  if (value instanceof TypeValue) return value.name
  if (isInside && (value instanceof Timestamp || value instanceof Duration)) {
    return `${value instanceof Timestamp ? 'timestamp' : 'duration'}("${textOf(value)}")`
  }
  if (isInside && value instanceof Uint8Array) return `b"${textOf(value)}"`
  if (isList(value)) return shownList(value, meter)
  if (isMap(value)) return shownMap(value, meter)
  return textOf(value)
}

function textOf(value: Value): string | undefined {
  const text = toStringValue(value)
  return typeof text === 'string' ? text : undefined
}

function shownList(list: ListValue, meter: Meter): string | undefined {
  const texts: string[] = []
  for (const item of itemsOf(list)) {
    const text = shown(item, { isInside: true, meter })
    if (text === undefined) return undefined
    texts.push(text)
  }
  return `[${texts.join(', ')}]`
}

function shownMap(map: MapValue, meter: Meter): string | undefined {
  const texts: string[] = []
  for (const key of map.keys()) {
    const [name, value] = [
      shown(key, { isInside: true, meter }),
      shown(map.get(key) ?? null, { isInside: true, meter }),
    ]
    if (name === undefined || value === undefined) return undefined
    texts.push(`${name}:${value}`)
  }
  return `{${texts.sort().join(', ')}}`
}

function fixedPoint(value: number, precision: number): string {
  const special = specialNumber(value)
  if (special !== undefined) return special
  const [whole = '', fraction] = roundHalfEven(value, Math.min(precision, 100)).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction.padEnd(precision, '0')}`
}

/** JavaScript rounds an exact half up, Go to the even neighbour. */
function roundHalfEven(value: number, precision: number): string {
  const text = value.toFixed(precision)
  const shifted = Math.abs(value) * 10 ** precision
  if (!Number.isSafeInteger(shifted * 2) || shifted % 1 !== 0.5) return text
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
