/** Converts times that have the CBOR tags 0 or 1 to RFC 3339, as Go prints them. */

const form = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/

/**
 * Returns a time in RFC 3339 format without trailing zeros, or undefined if the text is not a time.
 */
export function timeText(text: string): string | undefined {
  const [, fraction] = form.exec(text) ?? []
  if (!form.test(text) || Number.isNaN(Date.parse(text))) return undefined
  if (fraction === undefined) return text
  return text.replace(fraction, fraction.slice(0, 1 + NANO_DIGITS).replace(/\.?0+$/, ''))
}

const NANO_DIGITS = 9
const NANOS = 1e9

/** Range of seconds that RFC 3339 can represent: the years 0 to 9999. */
const SECONDS_MIN = -62_167_219_200
const SECONDS_MAX = 253_402_300_799

/**
 * Returns the time in UTC for a number of seconds since 1970, or undefined if RFC 3339 cannot
 * represent it.
 */
export function epochText(seconds: number): string | undefined {
  if (!(seconds >= SECONDS_MIN && seconds <= SECONDS_MAX)) return undefined
  const whole = Math.floor(seconds)
  const nanos = Math.round((seconds - whole) * NANOS)
  const text = new Date((whole + Math.floor(nanos / NANOS)) * 1000)
    .toISOString()
    .replace('.000Z', '')
  const fraction =
    nanos % NANOS === 0 ? '' : `.${`${nanos}`.padStart(NANO_DIGITS, '0').replace(/0+$/, '')}`
  return `${text}${fraction}Z`
}
