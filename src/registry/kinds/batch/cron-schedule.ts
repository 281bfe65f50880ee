/**
 * Parses schedules of CronJobs: five fields, or a descriptor such as @daily. Error messages are
 * those of the cron library that kube-apiserver uses.
 */
import { quote } from '../../../api/quote.ts'
import { parseDuration } from '../../../lib/time/duration.ts'
import { isTimeZone } from './time-zone.ts'

type Bounds = { readonly min: number; readonly max: number; readonly names?: readonly string[] }

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const fields: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
]
const descriptors = [
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
]
const every = '@every '

/** Returns why a schedule is invalid, or undefined if it is valid. */
export function scheduleFault(schedule: string): string | undefined {
  const [, zone, rest = schedule] = /^(?:CRON_)?TZ=([^ ]*) *(.*)$/s.exec(schedule) ?? []
  if (zone !== undefined && !isTimeZone(zone))
    return `provided bad location ${zone}: unknown time zone ${zone}`
  if (rest.startsWith('@')) return descriptorFault(rest)
  const words = rest.split(/\s+/).filter((word) => word !== '')
  if (words.length !== fields.length) {
    return `expected exactly ${fields.length} fields, found ${words.length}: [${words.join(' ')}]`
  }
  return firstFault(fields.map((bounds, at) => () => fieldFault(words[at] ?? '', bounds)))
}

const firstFault = (checks: readonly (() => string | undefined)[]): string | undefined => {
  for (const check of checks) {
    const fault = check()
    if (fault !== undefined) return fault
  }
  return undefined
}

function descriptorFault(word: string): string | undefined {
  if (descriptors.includes(word)) return undefined
  if (!word.startsWith(every)) return `unrecognized descriptor: ${word}`
  const duration = parseDuration(word.slice(every.length))
  return 'fault' in duration ? `failed to parse duration ${word}: ${duration.fault}` : undefined
}

const fieldFault = (field: string, bounds: Bounds): string | undefined =>
  firstFault(
    field
      .split(',')
      .filter((range) => range !== '')
      .map((range) => () => rangeFault(range, bounds)),
  )

/**
 * Returns why a range is invalid. A range is `*`, `3` or `1-5`, with an optional step as in
 * `1-5/2`.
 */
function rangeFault(range: string, { min, max, names = [] }: Bounds): string | undefined {
  const [span = '', stepText, ...slashes] = range.split('/')
  const [low = '', high, ...hyphens] = span.split('-')
  const isAny = low === '*' || low === '?'
  const numbers: { start: number; end: number; step: number } = { start: min, end: max, step: 1 }
  if (!isAny) {
    const start = readNumber(low, { min, names })
    if (typeof start === 'string') return start
    if (hyphens.length > 0) return `too many hyphens: ${range}`
    const end = high === undefined ? start : readNumber(high, { min, names })
    if (typeof end === 'string') return end
    Object.assign(numbers, { start, end })
  }
  if (slashes.length > 0) return `too many slashes: ${range}`
  if (stepText !== undefined) {
    const step = readNumber(stepText, { min, names: [] })
    if (typeof step === 'string') return step
    Object.assign(numbers, { step }, high === undefined ? { end: max } : {})
  }
  const { start, end, step } = numbers
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${range}`
  if (end > max) return `end of range (${end}) above maximum (${max}): ${range}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${range}`
  return step === 0 ? `step of range should be a positive number: ${range}` : undefined
}

/** Parses a number or a name. Returns an error message if the text is invalid. */
function readNumber(
  text: string,
  { min, names }: { readonly min: number; readonly names: readonly string[] },
): number | string {
  const at = names.indexOf(text.toLowerCase())
  if (at !== -1) return at + min
  if (!/^[+-]?[0-9]+$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: invalid syntax`
  }
  const number = Number(text)
  if (!Number.isSafeInteger(number)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: value out of range`
  }
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number
}
