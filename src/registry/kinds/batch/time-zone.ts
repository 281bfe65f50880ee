/**
 * Validates time zones. The check in JavaScript is not enough: it ignores case, resolves aliases to
 * other names, and accepts some names that are not in the IANA list.
 */

/**
 * Names in the IANA list that consist of three capital letters. JavaScript accepts more such names,
 * such as PST.
 */
const shortNames: ReadonlySet<string> = new Set(
  'CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '),
)
/**
 * Words that are lowercase in names of the IANA list: Dar_es_Salaam, Port-au-Prince, Isle_of_Man.
 * No other word begins with a lowercase letter.
 */
const smallWords: ReadonlySet<string> = new Set(['es', 'au', 'of'])
const ZONE_CHARACTERS_MAX = 64

export function isTimeZone(name: string): boolean {
  // Go's time.LoadLocation accepts the empty name as UTC, and Local as the zone of the machine.
  if (name === '' || name === 'Local') return true
  if (name.length > ZONE_CHARACTERS_MAX || name.startsWith('SystemV/') || !/^[A-Z]/.test(name))
    return false
  if (name.length === 3 && /^[A-Z]+$/.test(name) && !shortNames.has(name)) return false
  const resolved = resolve(name)
  if (resolved === undefined) return false
  if (resolved.toLowerCase() === name.toLowerCase()) return resolved === name
  return name.split(/[/_-]/).every((word) => smallWords.has(word) || !/^[a-z]/.test(word))
}

function resolve(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
