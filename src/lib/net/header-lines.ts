/**
 * Returns the values of each header or trailer, by its name in lower case. Each line is a separate
 * value. `raw` has the format of Node's `rawHeaders`, in which names and values alternate. Node's
 * own `headersDistinct` is not used, because before 24.14.1 it fails for a header with the name
 * `__proto__`.
 */
export function headerLines(raw: readonly string[]): Map<string, string[]> {
  const lines = new Map<string, string[]>()
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase()
    const value = raw[at + 1] ?? ''
    const known = lines.get(name)
    if (known === undefined) lines.set(name, [value])
    else known.push(value)
  }
  return lines
}
