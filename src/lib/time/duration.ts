/**
 * Formats and parses durations as Go does: `1m30s`, `500ms`. Error messages are the same as in Go,
 * because clients see them.
 */
import { cutText } from '../text/cut-text.ts'

const unitMs: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
])

/** The longest duration in Go: the maximum int64 in nanoseconds. */
const MS_MAX = 2 ** 63 / 1e6

/**
 * Maximum length of a duration. Go parses durations of any length, such as `1ns1ns…`, and a URL can
 * contain 1 MB of text. A real duration has each unit only once.
 */
const CHARACTERS_MAX = 1_000

export function parseDuration(text: string): { readonly ms: number } | { readonly fault: string } {
  const sign = text.startsWith('-') ? -1 : 1
  let rest = text.replace(/^[+-]/, '')
  if (rest === '0') return { ms: 0 }
  if (rest === '' || rest.length > CHARACTERS_MAX) return invalid(text)
  let ms = 0
  while (rest !== '') {
    const match = /^(\d+\.?\d*|\.\d+)([^\d.]*)/.exec(rest)
    if (match === null) return invalid(text)
    const [whole, amount = '', unit = ''] = match
    if (unit === '') return { fault: `time: missing unit in duration ${quoted(text)}` }
    const one = unitMs.get(unit)
    if (one === undefined) {
      return {
        fault: `time: unknown unit ${quoted(unit)} in duration ${quoted(text)}`,
      }
    }
    ms += Number(amount) * one
    rest = rest.slice(whole.length)
  }
  return ms > MS_MAX ? invalid(text) : { ms: sign * ms }
}

const invalid = (text: string): { readonly fault: string } => ({
  fault: `time: invalid duration ${quoted(text)}`,
})

const quoted = (text: string): string => cutText(text, undefined, (shown) => JSON.stringify(shown))

/** Formats a duration as Go does: `1m30s`, `1.5ms`, `0s`. */
export function formatDuration(ms: number): string {
  const nanos = Math.round(Math.abs(ms) * 1e6)
  const sign = ms < 0 ? '-' : ''
  if (nanos === 0) return '0s'
  if (nanos < 1e3) return `${sign}${nanos}ns`
  if (nanos < 1e6) return `${sign}${nanos / 1e3}µs`
  if (nanos < 1e9) return `${sign}${nanos / 1e6}ms`
  const minutes = Math.floor(nanos / 60e9)
  const seconds = `${(nanos % 60e9) / 1e9}s`
  if (minutes === 0) return `${sign}${seconds}`
  const hours = Math.floor(minutes / 60)
  return `${sign}${hours === 0 ? '' : `${hours}h`}${minutes % 60}m${seconds}`
}
