/**
 * Reads the lines of the catalogue (src/registry/catalogue) that belong to a release. A line
 * without a mark belongs to all releases. The last word of a line can be a mark with the minor
 * versions of its releases: `@34`, `@33-35`, or `@34+` for 34 and later. If a line is not indented,
 * its mark also applies to the indented lines below it.
 */
const markPattern = / @(\d+)(?:-(\d+)|(\+))?$/

/** Returns the lines of a text that belong to a release, without their marks. */
export function linesOfRelease(text: string, release: number): string {
  if (!text.includes(' @')) return text
  const lines: string[] = []
  let isHeadKept = true
  for (const line of text.split('\n')) {
    const isHead = !line.startsWith(' ')
    if (!isHead && !isHeadKept) continue
    const mark = line.includes(' @') ? markPattern.exec(line) : null
    const isKept = mark === null || isInRange(mark, release)
    if (isHead) isHeadKept = isKept
    if (isKept) lines.push(mark === null ? line : line.slice(0, mark.index))
  }
  return lines.join('\n')
}

function isInRange(mark: RegExpExecArray, release: number): boolean {
  const first = Number(mark[1])
  if (mark[3] !== undefined) return release >= first
  return release >= first && release <= Number(mark[2] ?? first)
}
