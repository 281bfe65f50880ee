const STAR = 0x2a

/**
 * Returns the prefix of the paths that a pattern such as `/logs/*` matches: the pattern without
 * trailing stars. No regular expression is used, because it would scan a run of stars once for each
 * star.
 */
export function pathPrefix(pattern: string): string {
  let end = pattern.length
  while (end > 0 && pattern.charCodeAt(end - 1) === STAR) end--
  return pattern.slice(0, end)
}
