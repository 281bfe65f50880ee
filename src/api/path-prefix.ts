const STAR = 0x2a

/**
 * Returns the prefix of the paths that a pattern such as `/logs/*` matches: the pattern without the
 * stars at its end. A regular expression would scan a run of stars once for each of them.
 */
export function pathPrefix(pattern: string): string {
  let end = pattern.length
  while (end > 0 && pattern.charCodeAt(end - 1) === STAR) end--
  return pattern.slice(0, end)
}
