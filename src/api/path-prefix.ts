const STAR = 0x2a

/**
 * Returns a pattern such as `/logs/*` without its trailing stars. It matches the paths that begin
 * with the returned prefix. No regular expression is used, because it would take quadratic time for
 * a pattern with many stars.
 */
export function pathPrefix(pattern: string): string {
  let end = pattern.length
  while (end > 0 && pattern.charCodeAt(end - 1) === STAR) end--
  return pattern.slice(0, end)
}
