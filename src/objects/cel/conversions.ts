/** Converts CEL values between types. */
import { intOf, uintOf } from './arithmetic.ts'
import {
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
  timestampOf,
} from './time.ts'
import {
  CelError,
  Duration,
  noSuchOverload,
  type Result,
  Timestamp,
  Uint,
  type Value,
} from './values.ts'

const SECOND = 1_000_000_000n

const cannot = (from: string, to: string): CelError =>
  new CelError(`type conversion error from '${from}' to '${to}'`)
const intOverflow = new CelError('integer overflow')
const uintOverflow = new CelError('unsigned integer overflow')

/**
 * Maximum length of the text of a number. No number needs more characters, and parsing a million
 * digits would take seconds.
 */
const DIGITS_MAX = 100

export function toInt(value: Value): Result {
  if (typeof value === 'bigint') return value
  if (value instanceof Uint) return intOf(value.value)
  if (typeof value === 'number') {
    const isInside = value > -(2 ** 63) && value < 2 ** 63
    return isInside ? BigInt(Math.trunc(value)) : intOverflow
  }
  if (typeof value === 'string') {
    if (value.length > DIGITS_MAX || !/^[+-]?[0-9]+$/.test(value)) return cannot('string', 'int')
    const made = intOf(BigInt(value.replace('+', '')))
    return made instanceof CelError ? cannot('string', 'int') : made
  }
  if (value instanceof Timestamp) return floorSeconds(value.nanos)
  return value instanceof Duration ? value.nanos : noSuchOverload
}

const floorSeconds = (nanos: bigint): bigint =>
  (nanos - (((nanos % SECOND) + SECOND) % SECOND)) / SECOND

export function toUint(value: Value): Result {
  if (value instanceof Uint) return value
  if (typeof value === 'bigint') return uintOf(value)
  if (typeof value === 'number') {
    return value >= 0 && value < 2 ** 64 ? new Uint(BigInt(Math.trunc(value))) : uintOverflow
  }
  if (typeof value !== 'string') return noSuchOverload
  if (value.length > DIGITS_MAX || !/^[0-9]+$/.test(value)) return cannot('string', 'uint')
  const made = uintOf(BigInt(value))
  return made instanceof CelError ? cannot('string', 'uint') : made
}

const float = /^[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)$/i

export function toDouble(value: Value): Result {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Uint) return Number(value.value)
  if (typeof value !== 'string') return noSuchOverload
  if (!float.test(value)) return cannot('string', 'double')
  const sign = value.startsWith('-') ? -1 : 1
  if (/inf/i.test(value)) return sign * Number.POSITIVE_INFINITY
  if (/nan/i.test(value)) return Number.NaN
  const made = Number(value)
  return Number.isFinite(made) ? made : cannot('string', 'double')
}

export function toStringValue(value: Value): Result {
  if (typeof value === 'string') return value
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return formatDouble(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof Uint8Array) return textOf(value)
  return noSuchOverload
}

function textOf(bytes: Uint8Array): Result {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError)
      return new CelError('invalid UTF-8 in bytes, cannot convert to string')
    throw error
  }
}

/**
 * Formats a double in Go's shortest format. From 1e6 on and below 1e-4, the result has an exponent
 * of at least two digits.
 */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Object.is(value, -0)) return '-0'
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
  }
  return String(value)
}

const trueTexts: readonly string[] = ['1', 't', 'T', 'true', 'TRUE', 'True']
const falseTexts: readonly string[] = ['0', 'f', 'F', 'false', 'FALSE', 'False']

export function toBool(value: Value): Result {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') return noSuchOverload
  if (trueTexts.includes(value)) return true
  return falseTexts.includes(value) ? false : cannot('string', 'bool')
}

export function toBytes(value: Value): Result {
  if (value instanceof Uint8Array) return value
  return typeof value === 'string' ? new TextEncoder().encode(value) : noSuchOverload
}

export function toTimestamp(value: Value): Result {
  if (value instanceof Timestamp) return value
  if (typeof value === 'bigint') return timestampOf(value * SECOND)
  if (typeof value !== 'string') return noSuchOverload
  return parseTimestamp(value) ?? cannot('string', 'google.protobuf.Timestamp')
}

export function toDuration(value: Value): Result {
  if (value instanceof Duration) return value
  // cel-go also declares this overload, but always returns an error.
  if (typeof value === 'bigint') return cannot('int', 'google.protobuf.Duration')
  if (typeof value !== 'string') return noSuchOverload
  return parseDuration(value) ?? cannot('string', 'google.protobuf.Duration')
}
