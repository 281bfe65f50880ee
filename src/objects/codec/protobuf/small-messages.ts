/**
 * Encodes and decodes values that are a string or a number in JSON, but bytes or a small message in
 * protobuf.
 */
import { JsonScanner, JsonSyntaxError } from '../../../api/json-scanner.ts'
import { isNumber, type Json } from '../../../api/object.ts'
import { readAny } from '../../../api/json-value.ts'
import { zeroTime } from '../../../api/time.ts'
import { printSorted, readRaw as readRawJson } from '../json.ts'
import { readQuantity as readQuantityText } from '../scalars.ts'
import { ProtobufError, type ProtobufReader } from './reader.ts'
import { BYTES, type ProtobufWriter, VARINT } from '../../../lib/bytes/protobuf-writer.ts'

/** Writes a value without tag and length. For a struct, writes its fields. */
export type Encode = (value: Json, writer: ProtobufWriter) => void

export const writeText: Encode = (value, writer) =>
  writer.varint(typeof value === 'string' ? writer.text(value) : 0)

export const writeBase64: Encode = (value, writer) => {
  const bytes = Buffer.from(typeof value === 'string' ? value : '', 'base64')
  writer.raw(bytes)
  writer.varint(bytes.length)
}

export const writeInteger: Encode = (value, writer) => writer.integer(isNumber(value) ? value : 0)

const NANO_DIGITS = 9
const MICRO_DIGITS = 6
const MICROS_PER_SECOND = 1_000_000
const NANOS_PER_MICRO = 1000

/** Writes a time as seconds and nanoseconds. Go's zero time is an empty message. */
export const writeTime: Encode = (value, writer) => {
  if (typeof value !== 'string' || value === zeroTime) return
  writer.varint(nanosOf(value))
  writer.tag(2, VARINT)
  writer.integer(secondsOf(value))
  writer.tag(1, VARINT)
}

/** Length of `2006-01-02T15:04:05`, with which every time begins. */
const SECONDS_CHARACTERS = 19
/**
 * The first year for which Date.UTC can be used. It interprets the years 0 to 99 as 1900 to 1999.
 */
const YEAR_MIN_UTC = 100

/**
 * Returns the number of seconds since 1970. It is computed from the digits, because Date.parse is
 * slower, and every watch event of an object with times needs it.
 */
function secondsOf(time: string): number {
  const year = digits(time, 0, 4)
  if (year < YEAR_MIN_UTC) return Date.parse(`${time.slice(0, SECONDS_CHARACTERS)}Z`) / 1000
  const days = Date.UTC(year, digits(time, 5, 7) - 1, digits(time, 8, 10)) / 1000
  return (
    days +
    digits(time, 11, 13) * 3600 +
    digits(time, 14, 16) * 60 +
    digits(time, 17, SECONDS_CHARACTERS)
  )
}

function nanosOf(time: string): number {
  const end = time.length - 1
  if (end <= SECONDS_CHARACTERS) return 0
  const from = SECONDS_CHARACTERS + 1
  return digits(time, from, end) * 10 ** (NANO_DIGITS - (end - from))
}

function digits(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) value = value * 10 + text.charCodeAt(at) - ZERO
  return value
}

const ZERO = 0x30

/** Reads a time with a precision of seconds. Nanoseconds are ignored. */
export const readTime = (reader: ProtobufReader): Json => {
  const time = readTimestamp(reader)
  return time === undefined || time.seconds === FIRST_INSTANT_SECONDS
    ? zeroTime
    : `${isoOf(time.seconds)}Z`
}

/**
 * Reads a time with a precision of microseconds. As in Go, any number of nanoseconds is accepted:
 * it is truncated to microseconds, and the excess is added to the seconds.
 */
export const readMicroTime = (reader: ProtobufReader): Json => {
  const time = readTimestamp(reader)
  if (time === undefined) return zeroTime
  const micros = Math.trunc(time.nanos / NANOS_PER_MICRO)
  const carry = Math.floor(micros / MICROS_PER_SECOND)
  const seconds = time.seconds + carry
  const rest = micros - carry * MICROS_PER_SECOND
  if (seconds === FIRST_INSTANT_SECONDS && rest === 0) return zeroTime
  return `${isoOf(seconds)}.${`${rest}`.padStart(MICRO_DIGITS, '0')}Z`
}

/** Go's zero time, 0001-01-01T00:00:00Z. */
const FIRST_INSTANT_SECONDS = -62_135_596_800

/** Reads seconds and nanoseconds. Returns undefined if the message is empty. */
function readTimestamp(
  reader: ProtobufReader,
): { readonly seconds: number; readonly nanos: number } | undefined {
  if (reader.at === reader.end) return undefined
  let seconds = 0
  let nanos = 0
  reader.fields((tag) => {
    if (tag === 8 + VARINT) seconds = Number(reader.int64())
    else if (tag === 16 + VARINT) nanos = reader.int32()
    else return false
    return true
  })
  return { seconds, nanos }
}

const YEAR_MAX = 9999

/**
 * Returns a time with a precision of seconds, without a time zone. Throws an error if the year does
 * not have four digits.
 */
function isoOf(seconds: number): string {
  const date = new Date(seconds * 1000)
  const year = Number.isNaN(date.getTime()) ? -1 : date.getUTCFullYear()
  if (year < 0 || year > YEAR_MAX)
    throw new ProtobufError('Time.MarshalJSON: year outside of range [0,9999]')
  return date.toISOString().slice(0, SECONDS_CHARACTERS)
}

export const writeQuantity: Encode = (value, writer) => {
  writeText(value ?? '0', writer)
  writer.tag(1, BYTES)
}

export function readQuantity(reader: ProtobufReader): Json {
  const read = readQuantityText(readText(reader) ?? '0')
  if ('fault' in read) throw new ProtobufError(read.fault)
  return read.text
}

export const writeIntOrString: Encode = (value, writer) => {
  const isText = typeof value === 'string'
  writeText(isText ? value : '', writer)
  writer.tag(3, BYTES)
  writeInteger(isText ? 0 : value, writer)
  writer.tag(2, VARINT)
  writer.byte(isText ? 1 : 0)
  writer.tag(1, VARINT)
}

export function readIntOrString(reader: ProtobufReader): Json {
  let type: number | bigint = 0
  let number = 0
  let text = ''
  reader.fields((tag) => {
    if (tag === 8 + VARINT) type = reader.int64()
    else if (tag === 16 + VARINT) number = reader.int32()
    else if (tag === 24 + BYTES) text = reader.text()
    else return false
    return true
  })
  return type === 0 ? number : text
}

/** Writes JSON that is stored as text. */
export const writeRaw: Encode = (value, writer) => {
  if (typeof value !== 'string') return
  writeText(value, writer)
  writer.tag(1, BYTES)
}

/**
 * Reads JSON that is stored as text. It must be valid, because it becomes part of other JSON
 * without changes. Null represents an absent value.
 */
export function readRaw(reader: ProtobufReader): Json {
  const text = readText(reader)
  const raw = text === undefined ? null : parsed(text, readRawJson)
  return raw === 'null' ? null : raw
}

/** Writes JSON of any type. Its keys are sorted as in printed JSON. */
export const writeJson: Encode = (value, writer) => writeRaw(printSorted(value), writer)

export function readJson(reader: ProtobufReader): Json {
  const text = readText(reader)
  return text === undefined ? null : parsed(text, readAny)
}

/** Reads the text in field 1. Returns undefined if it is absent or empty. */
function readText(reader: ProtobufReader): string | undefined {
  let text = ''
  reader.fields((tag) => {
    if (tag !== 8 + BYTES) return false
    text = reader.text()
    return true
  })
  return text === '' ? undefined : text
}

function parsed(text: string, read: (scanner: JsonScanner) => Json): Json {
  const scanner = new JsonScanner(text)
  try {
    scanner.peekType()
    const value = read(scanner)
    scanner.end()
    return value
  } catch (cause) {
    if (cause instanceof JsonSyntaxError) throw new ProtobufError(cause.message, { cause })
    throw cause
  }
}
