/**
 * Which time zones there are. JavaScript knows them, but minds no letter case, hides the names that are aliases of others, and has
 * some names from before there was a common list.
 */

/** Of the names with three letters those that are in the IANA's list. */
const shortNames: ReadonlySet<string> = new Set('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '))
/** Words inside names that have no capital letter: Dar_es_Salaam, Port-au-Prince, Isle_of_Man. */
const smallWords: ReadonlySet<string> = new Set(['es', 'au', 'of'])
const ZONE_CHARACTERS_MAX = 64

export function isTimeZone(name: string): boolean {
  // Go takes the empty name for UTC.
  if (name === '' || name === 'Local') return true
  if (name.length > ZONE_CHARACTERS_MAX || name.startsWith('SystemV/') || !/^[A-Z]/.test(name)) return false
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
