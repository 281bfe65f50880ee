const STAR = 0x2a

/**
 * What paths begin with that a pattern such as `/logs/*` matches: the pattern without the stars at
 * its end. Not by a regular expression, which would look at a run of stars once for each of them.
 */
export function pathPrefix(pattern: string): string {
  let end = pattern.length
  while (end > 0 && pattern.charCodeAt(end - 1) === STAR) end--
  return pattern.slice(0, end)
}
