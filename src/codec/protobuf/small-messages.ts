/** Values that JSON writes as one text or number, and protobuf as bytes or a small message of its own. */
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { isNumber, type Json } from '../../api/object.ts'
import { readAny } from '../../api/json-value.ts'
import { printOrdered, readRaw as readRawJson } from '../json.ts'
import { readQuantity as readQuantityText } from '../scalars.ts'
import { ProtobufError, type ProtobufReader } from './reader.ts'
import { BYTES, type Encode, VARINT } from './writer.ts'

export const writeText: Encode = (value, writer) => writer.varint(typeof value === 'string' ? writer.text(value) : 0)

export const writeBase64: Encode = (value, writer) => {
  const bytes = Buffer.from(typeof value === 'string' ? value : '', 'base64')
  writer.bytes(bytes)
  writer.varint(bytes.length)
}

export const writeInteger: Encode = (value, writer) => writer.integer(isNumber(value) ? value : 0)

const NANO_DIGITS = 9
const MICRO_DIGITS = 6

/** Seconds and nanoseconds; nothing at all of Go's first instant. */
export const writeTime: Encode = (value, writer) => {
  if (typeof value !== 'string') return
  const [whole = '', fraction = ''] = value.slice(0, -1).split('.')
  writer.varint(Number(fraction.padEnd(NANO_DIGITS, '0')))
  writer.tag(2, VARINT)
  writer.integer(Date.parse(`${whole}Z`) / 1000)
  writer.tag(1, VARINT)
}

export const readTime = (reader: ProtobufReader): Json => {
  const { seconds } = readTimestamp(reader)
  return seconds === undefined ? null : isoOf(seconds).replace('.000Z', 'Z')
}

export const readMicroTime = (reader: ProtobufReader): Json => {
  const { seconds, nanos } = readTimestamp(reader)
  if (seconds === undefined) return null
  return isoOf(seconds).replace('.000Z', `.${`${Math.trunc(nanos / 1000)}`.padStart(MICRO_DIGITS, '0')}Z`)
}

/** 0001-01-01T00:00:00Z */
const FIRST_INSTANT_SECONDS = -62_135_596_800

/** No seconds: the message is empty, or stands for Go's first instant. */
function readTimestamp(reader: ProtobufReader): { readonly seconds: number | undefined; readonly nanos: number } {
  let seconds = 0
  let nanos = 0
  const isEmpty = reader.at === reader.end
  reader.fields((tag) => {
    if (tag === 8 + VARINT) seconds = Number(reader.int64())
    else if (tag === 16 + VARINT) nanos = reader.int32()
    else return false
    return true
  })
  const isNone = isEmpty || (seconds === FIRST_INSTANT_SECONDS && nanos === 0)
  return { seconds: isNone ? undefined : seconds, nanos }
}

const YEAR_MAX = 9999

/** Years of other than four digits cannot be written. */
function isoOf(seconds: number): string {
  const date = new Date(seconds * 1000)
  const year = Number.isNaN(date.getTime()) ? -1 : date.getUTCFullYear()
  if (year < 0 || year > YEAR_MAX) throw new ProtobufError('Time.MarshalJSON: year outside of range [0,9999]')
  return date.toISOString()
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

/** JSON that is kept as its text. */
export const writeRaw: Encode = (value, writer) => {
  if (typeof value !== 'string') return
  writeText(value, writer)
  writer.tag(1, BYTES)
}

/** It must be JSON: it is written into JSON as it is. */
export function readRaw(reader: ProtobufReader): Json {
  const text = readText(reader)
  return text === undefined ? null : parsed(text, readRawJson)
}

export const writeJson: Encode = (value, writer) => writeRaw(printOrdered(value), writer)

export function readJson(reader: ProtobufReader): Json {
  const text = readText(reader)
  return text === undefined ? null : parsed(text, readAny)
}

/** The text in field 1, if there is one. */
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
