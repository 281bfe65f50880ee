/** Parses timestamps and converts them to the API's format. The error messages are those of Go. */
import { quote } from './quote.ts'

/**
 * Result of parsing. `text` is the time in UTC, `2006-01-02T15:04:05Z`. `fault` is Go's message for
 * a time that cannot be parsed.
 */
export type ParsedTime = { readonly text: string } | { readonly fault: string }

const secondsLayout = '2006-01-02T15:04:05Z07:00'
const microLayout = '2006-01-02T15:04:05.000000Z07:00'

/** Go's zero time, which represents an absent time. */
export const zeroTime = '0001-01-01T00:00:00Z'

/**
 * Pattern of a month and day, except February 29. Whether that day is valid depends on the year.
 */
const anyDay =
  /(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31/
    .source
const moment = `\\d{4}-(?:${anyDay})T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d`
/** Pattern of timestamps in canonical form, which need no conversion. */
const canonical = new RegExp(`^${moment}Z$`)
const canonicalMicro = new RegExp(`^${moment}\\.\\d{6}Z$`)

/** Parses a time. Fractional seconds are accepted and dropped. */
export function parseTime(text: string): ParsedTime {
  if (canonical.test(text)) return { text }
  return parse(text, secondsLayout, 0)
}

/** Parses a MicroTime. The fraction must have exactly six digits. */
export function parseMicroTime(text: string): ParsedTime {
  if (canonicalMicro.test(text)) return { text }
  return parse(text, microLayout, 6)
}

/**
 * Maximum length of an invalid time that an error message quotes like Go's package time. Longer
 * strings are quoted like other values, which is 30 times as fast. They cannot be times.
 */
const QUOTED_CHARACTERS_MAX = 1000

/**
 * Quotes a string like Go's package time: control characters and bytes beyond ASCII are escaped as
 * \x.
 */
function quoteTime(text: string): string {
  if (text.length > QUOTED_CHARACTERS_MAX) return quote(text)
  return `"${text.replace(/["\\]/g, '\\$&').replace(/[^ -\x7f]+/g, bytesOf)}"`
}

const bytesOf = (run: string): string => Buffer.from(run).toString('hex').replace(/../g, '\\x$&')

type Part = { readonly layout: string; readonly form: RegExp }

const parts: readonly Part[] = [
  { layout: '2006', form: /^\d{4}/ },
  { layout: '-', form: /^-/ },
  { layout: '01', form: /^\d{2}/ },
  { layout: '-', form: /^-/ },
  { layout: '02', form: /^\d{2}/ },
  { layout: 'T', form: /^T/ },
  { layout: '15', form: /^\d{1,2}/ },
  { layout: ':', form: /^:/ },
  { layout: '04', form: /^\d{2}/ },
  { layout: ':', form: /^:/ },
  { layout: '05', form: /^\d{2}/ },
]

function parse(text: string, layout: string, digits: number): ParsedTime {
  const cannot = (rest: string, part: string): ParsedTime => ({
    fault: `parsing time ${quoteTime(text)} as ${quoteTime(layout)}: cannot parse ${quoteTime(rest)} as ${quoteTime(part)}`,
  })
  const outOfRange = (what: string): ParsedTime => ({
    fault: `parsing time ${quoteTime(text)}: ${what} out of range`,
  })
  let rest = text
  const numbers: number[] = []
  for (const part of parts) {
    const found = part.form.exec(rest)?.[0]
    if (found === undefined) return cannot(rest, part.layout)
    rest = rest.slice(found.length)
    if (part.layout.length > 1) numbers.push(Number(found))
    const wrong = rangeFault(part.layout, Number(found))
    if (wrong !== undefined) return outOfRange(wrong)
  }
  let fraction = ''
  if (digits > 0) {
    const found = new RegExp(`^[.,](\\d{${digits}})`).exec(rest)
    if (found === null) return cannot(rest, `.${'0'.repeat(digits)}`)
    fraction = found[1] ?? ''
    rest = rest.slice(found[0].length)
  } else {
    rest = rest.slice(/^[.,]\d+/.exec(rest)?.[0].length ?? 0)
  }
  const zone = /^(?:Z|([+-])(\d{2}):(\d{2}))/.exec(rest)
  if (zone === null) return cannot(rest, 'Z07:00')
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers
  if (day < 1 || day > daysIn(year, month)) return outOfRange('day')
  const zoneHours = Number(zone[2] ?? 0)
  const zoneMinutes = Number(zone[3] ?? 0)
  if (zoneHours > 24) return outOfRange('time zone offset hour')
  if (zoneMinutes > 60) return outOfRange('time zone offset minute')
  rest = rest.slice(zone[0].length)
  if (rest !== '')
    return { fault: `parsing time ${quoteTime(text)}: extra text: ${quoteTime(rest)}` }
  const offsetMinutes = (zone[1] === '-' ? -1 : 1) * (zoneHours * 60 + zoneMinutes)
  // Date.UTC maps years below 100 to the 20th century, so set the year separately.
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute - offsetMinutes, second)
  // The formatted time must be parseable again, so its year can have only four digits.
  const utcYear = date.getUTCFullYear()
  if (utcYear < 0 || utcYear > 9999) return outOfRange('year')
  const seconds = date.toISOString().slice(0, -5)
  return { text: digits > 0 ? `${seconds}.${fraction}Z` : `${seconds}Z` }
}

function rangeFault(layout: string, value: number): string | undefined {
  if (layout === '01' && (value < 1 || value > 12)) return 'month'
  if (layout === '15' && value > 23) return 'hour'
  if (layout === '04' && value > 59) return 'minute'
  if (layout === '05' && value > 59) return 'second'
  return undefined
}

const daysIn = (year: number, month: number): number => {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}
