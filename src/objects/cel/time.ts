/**
 * Parses, formats and validates timestamps and durations. Both are bigints that contain the exact
 * number of nanoseconds.
 */
import { CelError, Duration, Timestamp } from './values.ts'

const SECOND = 1_000_000_000n
const MINUTE = 60n * SECOND
const HOUR = 60n * MINUTE

/** The start of the year 1, which is the smallest timestamp. */
const TIMESTAMP_MIN = -62_135_596_800n * SECOND
/** The end of the year 9999, which is the largest timestamp. */
const TIMESTAMP_MAX = 253_402_300_800n * SECOND - 1n
/** Maximum duration in nanoseconds. It is the largest int64. */
const DURATION_MAX = 2n ** 63n - 1n

export function timestampOf(nanos: bigint, offsetMinutes = 0): Timestamp | CelError {
  const isOutside = nanos < TIMESTAMP_MIN || nanos > TIMESTAMP_MAX
  return isOutside ? new CelError('timestamp overflow') : new Timestamp(nanos, offsetMinutes)
}

export function durationOf(nanos: bigint): Duration | CelError {
  return nanos < -DURATION_MAX - 1n || nanos > DURATION_MAX
    ? new CelError('integer overflow')
    : new Duration(nanos)
}

const form =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?([Zz]|[+-]\d{2}:\d{2})$/

/** Parses a timestamp in RFC 3339 format. Returns undefined if the text is invalid. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = form.exec(text)
  if (match === null) return undefined
  const [
    ,
    year = '',
    month = '',
    day = '',
    hour = '',
    minute = '',
    second = '',
    fraction = '',
    zone = '',
  ] = match
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number)
  if (y === undefined || mo === undefined || d === undefined || h === undefined || mi === undefined)
    return undefined
  if (mo < 1 || mo > 12 || d < 1 || h > 23 || mi > 59 || (s ?? 0) > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(y, mo - 1, d)
  if (date.getUTCDate() !== d) return undefined
  const offset = zoneMinutes(zone)
  if (offset === undefined) return undefined
  date.setUTCHours(h, mi, s ?? 0)
  const nanos = BigInt(fraction.slice(0, 9).padEnd(9, '0'))
  const made = timestampOf(
    BigInt(date.getTime() / 1000) * SECOND - BigInt(offset) * MINUTE + nanos,
    offset,
  )
  return made instanceof Timestamp ? made : undefined
}

/** Parses a date such as `2020-02-29`. The result is the start of the day. */
export const parseDate = (text: string): Timestamp | undefined =>
  parseTimestamp(`${text}T00:00:00Z`)

function zoneMinutes(zone: string): number | undefined {
  if (/^[Zz]$/.test(zone)) return 0
  const [hours = 0, minutes = 0] = zone.slice(1).split(':').map(Number)
  if (hours > 23 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

export function formatTimestamp({ nanos, offsetMinutes }: Timestamp): string {
  const date = dateOf(nanos + BigInt(offsetMinutes) * MINUTE)
  const fraction = floorMod(nanos, SECOND).toString().padStart(9, '0').replace(/0+$/, '')
  const year = String(date.getUTCFullYear()).padStart(4, '0')
  const rest = date
    .toISOString()
    .replace(/^[+-]?\d+/, '')
    .slice(0, 15)
  return `${year}${rest}${fraction === '' ? '' : `.${fraction}`}${formatZone(offsetMinutes)}`
}

const two = (number: number): string => String(number).padStart(2, '0')

function formatZone(offsetMinutes: number): string {
  if (offsetMinutes === 0) return 'Z'
  const [hours, minutes] = [Math.floor(Math.abs(offsetMinutes) / 60), Math.abs(offsetMinutes) % 60]
  return `${offsetMinutes < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`
}

const floorMod = (value: bigint, by: bigint): bigint => ((value % by) + by) % by
const floorDivide = (value: bigint, by: bigint): bigint => (value - floorMod(value, by)) / by

const dateOf = (nanos: bigint): Date => new Date(Number(floorDivide(nanos, 1_000_000n)))

const units: { readonly [unit: string]: bigint } = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
}

/**
 * Maximum length of the text of a duration. It limits how long parsing takes. Real durations are
 * shorter.
 */
const DURATION_CHARACTERS_MAX = 200

/** Parses a duration such as `1h30m`, as Go does. Returns undefined if the text is invalid. */
export function parseDuration(text: string): Duration | undefined {
  if (text.length > DURATION_CHARACTERS_MAX) return undefined
  const isNegative = text.startsWith('-')
  const body = text.replace(/^[+-]/, '')
  if (body === '0') return new Duration(0n)
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined
  let nanos = 0n
  for (const [, whole = '', fraction = '', unit = ''] of body.matchAll(
    /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g,
  )) {
    const size = units[unit] ?? 0n
    nanos += BigInt(whole === '' ? '0' : whole) * size
    if (fraction !== '') nanos += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length)
  }
  const made = durationOf(isNegative ? -nanos : nanos)
  return made instanceof Duration ? made : undefined
}

const wordedUnits: readonly (readonly [RegExp, bigint])[] = [
  [/^(?:ns|nano.*)$/, 1n],
  [/^(?:us|µs|micro.*)$/, 1000n],
  [/^(?:ms|milli.*)$/, 1_000_000n],
  [/^(?:s|sec.*)$/, SECOND],
  [/^(?:m|min.*)$/, MINUTE],
  [/^(?:h|hr|hour.*)$/, HOUR],
  [/^(?:d|day.*)$/, 24n * HOUR],
  [/^(?:w|wk|week.*)$/, 7n * 24n * HOUR],
]

/**
 * Parses a value that the schema declares with the format `duration`. The value is a duration as in
 * Go, or numbers and words for units, such as `3 days`. At least one of the words must be a known
 * unit.
 */
export function parseWordedDuration(text: string): Duration | undefined {
  const plain = parseDuration(text)
  if (plain !== undefined || text.length > DURATION_CHARACTERS_MAX) return plain
  let nanos: bigint | undefined
  for (const [, digits = '', word = ''] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    const amount = BigInt(digits)
    if (amount > DURATION_MAX) return undefined
    const size = wordedUnits.find(([names]) => names.test(word.toLowerCase()))?.[1]
    if (size !== undefined) nanos = (nanos ?? 0n) + amount * size
  }
  // The sum can overflow, because kube-apiserver adds int64 values without a check.
  return nanos === undefined ? undefined : new Duration(BigInt.asIntN(64, nanos))
}

/** Formats a duration in seconds, such as `5400.5s`. */
export function formatDuration({ nanos }: Duration): string {
  const size = nanos < 0n ? -nanos : nanos
  const fraction = (size % SECOND).toString().padStart(9, '0').replace(/0+$/, '')
  return `${nanos < 0n ? '-' : ''}${size / SECOND}${fraction === '' ? '' : `.${fraction}`}s`
}

export type TimePart =
  | 'getFullYear'
  | 'getMonth'
  | 'getDate'
  | 'getDayOfMonth'
  | 'getDayOfWeek'
  | 'getDayOfYear'
  | 'getHours'
  | 'getMinutes'
  | 'getSeconds'
  | 'getMilliseconds'

export function timePart(part: TimePart, { nanos }: Timestamp, zone = 'UTC'): bigint | CelError {
  const local = localDate(nanos, zone)
  if (local instanceof CelError) return local
  switch (part) {
    case 'getFullYear':
      return BigInt(local.getUTCFullYear())
    case 'getMonth':
      return BigInt(local.getUTCMonth())
    case 'getDate':
      return BigInt(local.getUTCDate())
    case 'getDayOfMonth':
      return BigInt(local.getUTCDate() - 1)
    case 'getDayOfWeek':
      return BigInt(local.getUTCDay())
    case 'getDayOfYear':
      return BigInt(dayOfYear(local))
    case 'getHours':
      return BigInt(local.getUTCHours())
    case 'getMinutes':
      return BigInt(local.getUTCMinutes())
    case 'getSeconds':
      return BigInt(local.getUTCSeconds())
    case 'getMilliseconds':
      return floorMod(nanos, SECOND) / 1_000_000n
  }
}

function dayOfYear(date: Date): number {
  const first = new Date(date)
  first.setUTCMonth(0, 1)
  return Math.round((date.getTime() - first.getTime()) / 86_400_000)
}

/**
 * Returns a date whose UTC fields (such as `getUTCHours`) contain the local time in the time zone.
 */
function localDate(nanos: bigint, zone: string): Date | CelError {
  const date = dateOf(nanos)
  if (zone === 'UTC' || zone === '' || zone === 'Z') return date
  const fixed = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone)
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3])
    return new Date(date.getTime() + (fixed[1] === '-' ? -minutes : minutes) * 60_000)
  }
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone)) return new CelError(`unknown time zone ${zone}`)
  return inNamedZone(date, zone)
}

function inNamedZone(date: Date, zone: string): Date | CelError {
  try {
    const format = new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
      timeZone: zone,
      timeZoneName: 'longOffset',
    })
    const name = format.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
      /([+-])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(name) ?? []
    const offsetMs = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
    return new Date(date.getTime() + (sign === '-' ? -offsetMs : offsetMs))
  } catch (error) {
    if (error instanceof RangeError) return new CelError(`unknown time zone ${zone}`)
    throw error
  }
}

export function durationPart(part: TimePart, { nanos }: Duration): bigint {
  if (part === 'getHours') return nanos / HOUR
  if (part === 'getMinutes') return nanos / MINUTE
  return part === 'getSeconds' ? nanos / SECOND : nanos / 1_000_000n
}
