/**
 * Applies a change that a page shows as a diff without line numbers. Lines begin with a space, `-`
 * or `+`, as in a unified diff; a line that begins with `@@` separates parts. The lines without `+`
 * must occur exactly once in the file.
 */

/** Returns the text of a file after the change. Throws if the change does not match the file. */
export function applyChange(text: string, change: string): string {
  // The search includes the surrounding line breaks, so that only whole lines are replaced.
  let changed = `\n${text}`
  for (const part of change.split(/^@@.*\n/m).filter((one) => one.trim() !== '')) {
    const lines = part.replace(/\n$/, '').split('\n')
    const [before, after] = [linesOf(lines, '-'), linesOf(lines, '+')]
    const at = changed.indexOf(before)
    if (at === -1) throw new Error(`these lines are not in the file:${before}`)
    if (changed.includes(before, at + 1))
      throw new Error(`these lines are in the file more than once:${before}`)
    changed = changed.slice(0, at) + after + changed.slice(at + before.length)
  }
  return changed.slice(1)
}

/** Reverts a change. The text must already contain it. */
export const undoChange = (text: string, change: string): string =>
  applyChange(
    text,
    change.replaceAll(/^[-+]/gm, (sign) => (sign === '+' ? '-' : '+')),
  )

/**
 * Returns the lines that begin with `sign` (`+` or `-`) and the context lines, without their first
 * character.
 */
const linesOf = (lines: readonly string[], sign: '-' | '+'): string =>
  `\n${lines
    .filter((line) => line === '' || line.startsWith(' ') || line.startsWith(sign))
    .map((line) => line.slice(1))
    .join('\n')}\n`
